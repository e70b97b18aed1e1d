"""The step ``open_gate``."""
