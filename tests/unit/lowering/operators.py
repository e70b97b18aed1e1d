"""Small programs, one for each operator family, with inputs that reach tile edges.

Each makes a module and its inputs; what PyTorch computes is the oracle.
"""

from torch import nn

from tests.unit.lowering import (
    operators_moving,
    operators_networks,
    operators_reducing,
    operators_windows,
)
from tests.unit.lowering.modules import Called

CASES = (
    operators_moving.CASES
    | operators_reducing.CASES
    | operators_windows.CASES
    | operators_networks.CASES
)


def module(name):
    """The case's module, every parameter away from its start value."""
    made = CASES[name][0]()
    made = made if isinstance(made, nn.Module) else Called(made)
    for parameter in made.parameters():
        nn.init.normal_(parameter, 0.3, 0.4)
    return made


def inputs(name):
    return [make() for make in CASES[name][1:]]
