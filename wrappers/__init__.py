"""Adapters to RL frameworks: no rules in here."""
