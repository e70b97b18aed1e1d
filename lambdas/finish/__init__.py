"""The step ``finish``."""
