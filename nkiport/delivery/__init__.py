"""What is delivered: a patch with the kernel, a wrapper, a test and the evidence."""
