"""The step ``discover``."""
