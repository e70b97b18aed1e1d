"""The step ``deliver``."""
