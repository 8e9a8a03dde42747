"""Speed beside other libraries, on the same game, in one run: `make bench-peers`."""
