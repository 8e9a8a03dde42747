"""Agents, and what is measured with them."""

from pathlib import Path

RESULTS = Path(__file__).parent / "results"
"""The published tables, curves and figures, as JSON."""

POLICIES = Path(__file__).parent / "policies"
"""The trained policies that ship: NAME.safetensors and its card NAME.json; `policy:NAME` plays one."""
