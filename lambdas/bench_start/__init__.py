"""The step ``bench_start``."""
