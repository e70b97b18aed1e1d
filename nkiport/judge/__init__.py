"""Judges candidates: pure functions of arrays and messages."""
