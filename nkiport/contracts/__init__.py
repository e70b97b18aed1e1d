"""Messages, records, errors and keys: what crosses a process border."""
