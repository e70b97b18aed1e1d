"""No task can be fooled by a cheap cheat; and the check that says so can fail."""

import pytest

from bench.admission import fooled_by
from bench.harness import tasks_of

BOTH = tasks_of("ten") | tasks_of("nkigen-250")
COPY = "L1_data_movement_095_reshape_flatten"
"""A view: its first input in memory order is the right answer, not a cheat."""


@pytest.mark.parametrize("name", sorted(set(BOTH) - {COPY}))
def test_a_task_rejects_every_cheat(name):
    assert fooled_by(BOTH[name]) == []


def test_the_one_copy_rejects_every_other_cheat():
    assert fooled_by(BOTH[COPY]) == ["first input"]


@pytest.mark.parametrize(
    ("forward", "cheats"),
    [
        # The branch hides below the tolerance, as with a layer scale of 1e-4.
        ("x + 1e-5 * torch.tanh(x)", {"identity", "first input"}),
        ("torch.softmax(x, -1) * 1e-4", {"zeros", "mean"}),
        ("torch.ones_like(x)", {"mean", "seed replay"}),
        ("torch.ones_like(x) * 5 + torch.tanh(x) * 1e-4", {"mean", "seed replay"}),
    ],
)
def test_a_vacuous_task_is_found_out(tmp_path, forward, cheats):
    task = tmp_path / "vacuous.py"
    task.write_text(
        "import torch\n\n\nclass Model(torch.nn.Module):\n"
        f"    def forward(self, x):\n        return {forward}\n\n\n"
        "def get_inputs():\n    return [torch.randn(16, 64)]\n\n\n"
        "def get_init_inputs():\n    return []\n"
    )

    assert cheats <= set(fooled_by(task))


def test_weights_that_do_not_depend_on_the_seed_are_found_out(tmp_path):
    task = tmp_path / "fixed.py"
    task.write_text(
        "import torch\n\n\nclass Model(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        torch.manual_seed(0)\n"
        "        self.linear = torch.nn.Linear(64, 8)\n\n"
        "    def forward(self, x):\n        return self.linear(x)\n\n\n"
        "def get_inputs():\n    return [torch.randn(16, 64)]\n\n\n"
        "def get_init_inputs():\n    return []\n"
    )

    assert "seed replay" in fooled_by(task)
