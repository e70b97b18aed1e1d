"""The step ``assess``."""
