"""One stack per concern, and the constructs they share."""
