"""The instructions and functions, one module for each engine."""
