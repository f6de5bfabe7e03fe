"""Shared code of the evals. Standard library only, Python 3.11 or newer, Linux."""
