"""The backend without a model: the captured graph, lowered by rules."""

from typing import Literal

from nkiport.contracts.errors import UnsupportedGraph
from nkiport.generation.backend import Meter, Task, Written
from nkiport.lowering import lower
from nkiport.lowering.search import searched


class Recipes:
    """Deterministic and free: the same task gives the same bytes."""

    name: Literal["recipes"] = "recipes"

    def most_usd(self, task: Task) -> float:  # noqa: ARG002 - the port's signature
        """Nothing is billed."""
        return 0.0

    def write(self, task: Task, meter: Meter) -> Written:  # noqa: ARG002 - the port's signature
        """Lower the captured graph, or say what stands in the way.

        Where speed is asked for, the tilings are searched: that takes minutes instead of seconds.
        """
        graph = task.capture.graph
        if graph is None:
            why = task.capture.no_graph_because or "capture gave none"
            return Written(None, f"recipes need a captured graph, and there is none: {why}")
        write = lower if task.min_roofline_share is None else searched
        try:
            return Written(write(graph, target=task.target, name=task.name))
        except UnsupportedGraph as refusal:
            return Written(None, f"recipes do not cover the graph: {refusal}")
