"""One module per group of states."""
