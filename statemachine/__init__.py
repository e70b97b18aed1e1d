"""The migration state machine, written in CDK Python and rendered to checked-in ASL."""
