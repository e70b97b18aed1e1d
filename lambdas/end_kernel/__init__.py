"""The step ``end_kernel``."""
