"""The project's own checks and generators; nothing here is deployed."""
