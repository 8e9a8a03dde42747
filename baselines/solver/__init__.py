"""Exact endgames: the value of a position and of each of its legal actions, over the kernels of any game."""

from iszoo.baselines.solver.solver import DEFAULT_NODES, Solution, Solver, Unsolved, solve_record

__all__ = ["DEFAULT_NODES", "Solution", "Solver", "Unsolved", "solve_record"]
