"""Agents played against each other: jobs, ratings, tables, plots."""
