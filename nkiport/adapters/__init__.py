"""The ports, made real: AWS, git, GitHub, model services, and one process's memory."""
