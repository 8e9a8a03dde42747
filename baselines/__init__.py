"""Agents, and what is measured with them."""
