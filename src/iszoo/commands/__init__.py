"""The commands of `iszoo`, a class each: its fields are the arguments, `run` does it."""
