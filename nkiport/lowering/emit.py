"""The last pass: calls are selected for every plan and written as one file."""

from collections.abc import Sequence

from nkiport.lowering.attention import emit_chain
from nkiport.lowering.chain import ChainPlan
from nkiport.lowering.host import emit_host
from nkiport.lowering.ir import Program
from nkiport.lowering.kernel import Launch
from nkiport.lowering.matmul import emit_matmul
from nkiport.lowering.moves import emit_solo
from nkiport.lowering.recurrent import RecurrentPlan, emit_recurrent
from nkiport.lowering.rows import emit_rows
from nkiport.lowering.tiling import MatmulPlan, Plan, RowPlan
from nkiport.lowering.window_tiling import WindowPlan
from nkiport.lowering.windows import emit_window
from nkiport.lowering.writer import WIDTH, Writer

AnyPlan = Plan | ChainPlan

IMPORTS = (
    "import math",
    "",
    "import neuronxcc.nki as nki",
    "import neuronxcc.nki.isa as nisa",
    "import neuronxcc.nki.language as nl",
)


def emit(program: Program, plans: Sequence[AnyPlan], name: str) -> str:
    """The candidate: imports, a kernel for each plan, the host function."""
    body = Writer()
    launches = [_kernel(program, plan, body) for plan in plans]
    emit_host(program, launches, body)
    text = body.text()
    used = [line for line in IMPORTS if not line or f"{line.split()[-1]}." in text]
    while used and not used[0]:
        used = used[1:]
    return "\n".join([_head(name), "", *used, "", "", text])


def _head(name: str) -> str:
    """The file's docstring; a name that is too long for its line is cut."""
    said = ': NKI kernels lowered from the captured graph."""'
    title = " ".join(name.replace('"', "").replace("\\", "").split()) or "kernel"
    return f'"""{title}'[: WIDTH - len(said)] + said


def _kernel(program: Program, plan: AnyPlan, writer: Writer) -> Launch:
    launch = _emitted(program, plan, writer)
    writer.line()
    writer.line()
    return launch


def _emitted(program: Program, plan: AnyPlan, writer: Writer) -> Launch:
    if isinstance(plan, ChainPlan):
        return emit_chain(program, plan, writer)
    if isinstance(plan, RowPlan):
        return emit_rows(program, plan, writer)
    if isinstance(plan, MatmulPlan):
        return emit_matmul(program, plan, writer)
    if isinstance(plan, WindowPlan):
        return emit_window(program, plan, writer)
    if isinstance(plan, RecurrentPlan):
        return emit_recurrent(program, plan, writer)
    return emit_solo(program, plan, writer)
