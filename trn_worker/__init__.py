"""The worker: takes device work from the queue, runs it in a child, returns the task token."""
