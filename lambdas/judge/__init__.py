"""The step ``judge``."""
