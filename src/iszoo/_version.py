"""The version, in one place: the package's metadata, `iszoo.__version__` and the records read it here."""

__version__ = "0.1.0"
