"""What runs on a laptop: one file in one process, or the whole stacks on an emulator."""
