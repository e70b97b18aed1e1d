"""Lets the holder of the local token in."""
