"""The edge: one folder for each step or route; nothing here is imported by anything but tests."""
