"""Commands on NKI files of one's own: check them, run them, look at their time."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nkiport.cli.output import AsJson, as_json, coloured, console, table
from nkiport.contracts.base import TargetName
from nkiport.contracts.errors import BadRequest
from nkiport.contracts.judgement import Finding

if TYPE_CHECKING:
    from nkiport.simulator import Simulation

File = Annotated[Path, typer.Argument(help="A file with NKI kernels.")]
Inputs = Annotated[
    list[str],
    typer.Option(
        "--inputs", help="an .npz file, or NAME=4x128:float32 for drawn values; in call order"
    ),
]
Kernel = Annotated[
    str, typer.Option("--kernel", help="which function; forward or the only kernel, unless named")
]
Grid = Annotated[str, typer.Option(help="the launch grid, such as 2,4")]
Given = Annotated[list[str], typer.Option("--set", help="NAME=VALUE of an argument")]


def check(
    kernel: Annotated[Path | None, typer.Argument(help="A file with NKI kernels.")] = None,
    target: str = "trn1",
    strict: Annotated[bool, typer.Option(help="as a stranger's file is read")] = False,
    explain: Annotated[str, typer.Option(help="say what a code means, and end")] = "",
    json: AsJson = False,
) -> None:
    """Check a file's text against the language; exit code 0 only without errors."""
    from nkiport.simulator import check as read

    if explain:
        console().print(_explained(explain))
        return
    if kernel is None:
        raise BadRequest("give a file, or --explain CODE")
    found = read(_text(kernel), target=_target(target), own=not strict)
    _show(found, kernel, json=json)
    if not found and not json:
        console().print("no findings")
    raise typer.Exit(any(each.severity == "error" for each in found))


def simulate(
    kernel: File, inputs: Inputs, name: Kernel = "",
    grid: Grid = "", given: Given = [], target: str = "trn1",  # noqa: B006 - typer copies it
    out: Annotated[Path | None, typer.Option(help="an .npz file for the outputs")] = None,
    json: AsJson = False,
) -> None:  # fmt: skip
    """Run a kernel on the simulator; exit code 0 only without errors."""
    import numpy as np

    done = _ran(kernel, inputs, name, grid, given, target)
    if out and done.outputs:
        np.savez(out, *done.outputs)
    shapes = [{"shape": each.shape, "dtype": each.dtype.name} for each in done.outputs]
    if json:
        as_json({"findings": [f.model_dump() for f in done.findings], "outputs": shapes})
    else:
        _show(done.findings, kernel, json=False)
        for place, each in enumerate(done.outputs):
            console().print(f"output {place}: {each.shape} {each.dtype.name}")
        console().print(f"{len(done.trace.instructions)} instructions")
    raise typer.Exit(not done.ok)


def estimate(
    kernel: File, inputs: Inputs, name: Kernel = "",
    grid: Grid = "", given: Given = [], target: str = "trn1",  # noqa: B006 - typer copies it
    trace: Annotated[Path | None, typer.Option(help="a Chrome trace (JSON) to write")] = None,
    svg: Annotated[Path | None, typer.Option(help="a picture to write")] = None,
    json: AsJson = False,
) -> None:  # fmt: skip
    """Estimate a kernel's latency by the cost model: an estimate, not a measurement."""
    from dataclasses import asdict

    from nkiport.nki import target as chip
    from nkiport.simulator import estimate as estimated
    from nkiport.simulator import pictures
    from nkiport.simulator.schedule import scheduled

    done = _ran(kernel, inputs, name, grid, given, target)
    if not done.ok:
        _show(done.findings, kernel, json=json)
        raise typer.Exit(1)
    found = estimated(done.trace, target=_target(target))
    bookings = list(scheduled(done.trace, chip(_target(target))))
    if trace:
        trace.write_text(pictures.chrome_trace(bookings))
    if svg:
        svg.write_text(pictures.svg(bookings, f"{kernel.name} on {target}: an estimate"))
    if json:
        as_json(asdict(found))
        return
    console().print(
        f"estimated {found.p50_us:.1f} us ({found.low_us:.1f} to {found.high_us:.1f}), bound by "
        f"{found.bound_by}; the work itself takes at least {found.floor_us:.1f} us"
    )
    rows = [(engine, f"{share:.0%}") for engine, share in found.utilisation.items()]
    console().print(table(("engine", "busy"), rows))


def _ran(
    kernel: Path, inputs: list[str], name: str, grid: str, given: list[str], target: str
) -> "Simulation":
    from nkiport.simulator import Launch, Options
    from nkiport.simulator import simulate as run

    sizes = tuple(int(each) for each in grid.split(",") if each)
    launch = Launch(name, sizes, dict(_argument(each) for each in given))
    options = Options(own=True, file_name=str(kernel))
    arrays = _arrays(inputs)
    return run(_text(kernel), arrays, target=_target(target), options=options, launch=launch)


def _arrays(inputs: list[str]) -> Mapping[str, Any]:
    """Tensors by name: from files, or drawn by the shapes that are given."""
    import numpy as np

    arrays: dict[str, Any] = {}
    for each in inputs:
        if each.endswith(".npz"):
            if not Path(each).is_file():
                raise BadRequest(f"there is no file '{each}'")
            arrays |= dict(np.load(each))
        else:
            name, _, spec = each.partition("=")
            arrays[name] = _drawn(each, spec)
    return arrays


def _drawn(said: str, spec: str) -> Any:
    import numpy as np

    from nkiport.sandbox.buffers import dtype_of

    shape, _, dtype = spec.partition(":")
    try:
        sizes = tuple(int(size) for size in shape.split("x"))
        kind = dtype_of(dtype or "float32")
    except (ValueError, TypeError) as error:
        raise BadRequest(
            f"'{said}' is no input; write NAME=4x128:float32, or the name of an .npz file"
        ) from error
    rng = np.random.default_rng(0)
    values = rng.integers(0, 8, sizes) if kind.kind in "iu" else rng.standard_normal(sizes)
    return values.astype(kind)


def _argument(said: str) -> tuple[str, Any]:
    """An argument by name; its value as Python writes it, else as text."""
    name, _, value = said.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _explained(code: str) -> str:
    """What a code means, by the finding that its rule gives."""
    from nkiport.nki.codes import meaning

    return meaning(code)


def _text(kernel: Path) -> str:
    if not kernel.is_file():
        raise BadRequest(f"there is no file '{kernel}'")
    return kernel.read_text()


def _target(name: str) -> TargetName:
    from nkiport.cli.files import target_named

    return target_named(name)


def _show(found: tuple[Finding, ...], kernel: Path, *, json: bool) -> None:
    if json:
        as_json([each.model_dump() for each in found])
        return
    for each in found:
        console().print(coloured(each.severity), each.sentence(str(kernel)))
