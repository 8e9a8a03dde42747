"""A game that other libraries have too, so that speed can be compared on the same work."""
