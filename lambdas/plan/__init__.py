"""The step ``plan``."""
