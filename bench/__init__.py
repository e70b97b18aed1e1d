"""The benchmark: suites of tasks, a harness that survives a kill, pure scoring, reports."""

from bench.harness import run
from bench.results import TaskResult
from bench.scoring import Rate, Summary, summarise, wilson

__all__ = ["Rate", "Summary", "TaskResult", "run", "summarise", "wilson"]
