"""The step ``emit_diff``."""
