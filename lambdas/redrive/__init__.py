"""The step ``redrive``."""
