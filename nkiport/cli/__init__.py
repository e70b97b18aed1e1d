"""The command ``nkiport``."""
