"""The step ``bench_report``."""
