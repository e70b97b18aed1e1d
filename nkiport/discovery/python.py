"""Kernels in a Python file: Triton functions, modules, CUDA source in strings, NKI kernels."""

import ast
from difflib import SequenceMatcher

from nkiport.discovery import cuda
from nkiport.discovery.found import Found, Skip
from nkiport.discovery.syntax import File, decorated, string_in

INPUTS = (
    "its inputs: add 'def get_inputs():' that returns a list of tensors, or give them in the job"
)
LAUNCH = (
    "a launch function: add 'def run(x): ...' that allocates the output and calls "
    "'{name}[grid](...)', or give a grid and the roles of its arguments in the job"
)
INIT = "its constructor's arguments: add 'def get_init_inputs():' that returns them"
INLINE = "a __global__ function in a string given to load_inline"
TRITON_RANK, NKI_RANK = 4.0, 0.0
WORK = {
    "matmul": 3.0, "mm": 3.0, "bmm": 3.0, "linear": 3.0, "conv1d": 3.0, "conv2d": 3.0,
    "conv3d": 3.0, "scaled_dot_product_attention": 4.0, "softmax": 1.0, "layer_norm": 1.0,
    "rms_norm": 1.0, "einsum": 3.0,
}  # fmt: skip
"""How much a call of that name weighs in a rank; others weigh a tenth."""


def python_file(text: str, name: str) -> list[Found]:
    """Everything found in one file. Raises ``Skip`` if it cannot be parsed."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise Skip(f"it does not parse: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise Skip("it is nested too deeply to be parsed") from error
    file = File(name, text, tree)
    written_in_cuda, references = _cuda(file)
    modules = [each for each in _modules(file) if each.name not in references]
    return [*_triton(file), *_nki(file), *written_in_cuda, *modules]


def _triton(file: File) -> list[Found]:
    kernels = [f for f in file.functions if decorated(f, "triton", "jit")]
    called = {name for f in kernels for name in file.calls(f) if name != f.name}
    found = []
    for function in kernels:
        sites = file.launches(function.name)
        if not sites and function.name in called:
            continue  # a helper of other kernels
        launcher = next((owner for owner, _ in sites if owner in file.top_level), None)
        missing = [] if launcher else [LAUNCH.format(name=function.name)]
        if "get_inputs" not in file.top_level:
            missing.append(INPUTS)
        found.append(
            Found(
                **file.place(function),
                kind="triton",
                signature=f"{function.name}({ast.unparse(function.args)})",
                why="a function decorated with @triton.jit",
                missing=tuple(missing),
                launches=tuple(f"{file.name}:{line} {owner}" for owner, line in sites),
                launcher=f"{file.name}:{launcher}" if launcher else None,
                rank=TRITON_RANK,
            )
        )
    return found


def _nki(file: File) -> list[Found]:
    return [
        Found(
            **file.place(function),
            kind="nki",
            signature=f"{function.name}({ast.unparse(function.args)})",
            why="a function decorated with @nki.jit: it is migrated already",
            rank=NKI_RANK,
        )
        for function in file.functions
        if decorated(function, "nki", "jit")
    ]


def _modules(file: File) -> list[Found]:
    found = []
    for each in file.modules:
        forward = next(
            f for f in each.body if isinstance(f, ast.FunctionDef) and f.name == "forward"
        )
        missing = [] if "get_inputs" in file.top_level else [INPUTS]
        if file.needs_arguments(each) and "get_init_inputs" not in file.top_level:
            missing.append(INIT)
        calls = file.calls(forward)
        found.append(
            Found(
                **file.place(each),
                kind="module",
                signature=f"{each.name}.forward({ast.unparse(forward.args)})",
                why="a torch.nn.Module with a forward",
                missing=tuple(missing),
                rank=1.0 + sum(WORK.get(call, 0.1) for call in calls),
            )
        )
    return found


def _cuda(file: File) -> tuple[list[Found], set[str]]:
    """Kernels in strings that are compiled inline, and the classes proposed as their references."""
    found: list[Found] = []
    references: set[str] = set()
    for call in file.calls_of("load_inline"):
        extension = file.assigned_to(call)
        candidates = [m.name for m in file.modules if extension not in file.names(m)]
        for constant in _sources(file, call):
            text = str(constant.value)
            for node in cuda.global_functions(text):
                kernel = cuda.kernel(node, file.name, constant.lineno - 1, text, why=INLINE)
                likely = _likely(kernel.name, candidates)
                references |= {likely} if likely else set()
                found.append(_with_reference(kernel, file, likely, extension))
    return found, references


def _sources(file: File, call: ast.Call) -> list[ast.Constant]:
    given = [k.value for k in call.keywords if k.arg in {"cuda_sources", "cpp_sources"}]
    return [c for each in (*call.args, *given) for c in string_in(each, file.constants)]


def _likely(kernel: str, candidates: list[str]) -> str | None:
    """The class whose name is nearest to the kernel's; a lone class is near enough."""
    if len(candidates) == 1:
        return candidates[0]
    near = {
        name: SequenceMatcher(None, name.lower(), kernel.replace("_", "").lower()).ratio()
        for name in candidates
    }
    best = max(near, key=lambda name: near[name], default=None)
    return best if best and near[best] > 0.5 else None  # noqa: PLR2004 - more alike than not


def _with_reference(kernel: Found, file: File, likely: str | None, extension: str) -> Found:
    missing = [] if likely else [cuda.NEEDS_REFERENCE]
    if likely and "get_inputs" not in file.top_level:
        missing.append(INPUTS)
    callers = tuple(f"{file.name}:{line} {owner}" for owner, line in file.uses(extension))
    fields = {
        **kernel.fields(),
        "missing": tuple(missing),
        "launches": callers,
        "launcher": f"{file.name}:{callers[0].split()[-1]}" if callers else None,
        "proposed_reference": f"{file.name}:{likely}" if likely else None,
    }
    return Found(**fields)
