"""One module per step: a function of a request and the ports it needs."""
