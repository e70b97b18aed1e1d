"""The functional simulator: checks a candidate, runs it, and estimates its latency."""

from nkiport.simulator.check import check
from nkiport.simulator.estimate import Estimate, estimate
from nkiport.simulator.options import Options
from nkiport.simulator.run import Candidate, Launch, Simulation, simulate
from nkiport.simulator.trace import Instruction, Trace

__all__ = [
    "Candidate", "Estimate", "Instruction", "Launch", "Options", "Simulation", "Trace", "check",
    "estimate", "simulate",
]  # fmt: skip
