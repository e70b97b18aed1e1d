"""The step ``generate``."""
