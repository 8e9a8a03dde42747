"""Tree search, written once for all games."""

from iszoo.baselines.search.search import DEFAULTS, Search, SearchAgent, SearchOptions, make

__all__ = ["DEFAULTS", "Search", "SearchAgent", "SearchOptions", "make"]
