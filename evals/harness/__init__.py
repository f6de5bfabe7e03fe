"""What the evals share. Standard library only, Python 3.11 or newer, Linux."""
