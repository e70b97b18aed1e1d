"""The command line: every command is a thin call of what the API and the steps offer."""

import sys

import typer
from rich.console import Console

from nkiport.cli import files, kernels, local, remote
from nkiport.cli.demo import demo
from nkiport.contracts.errors import NkiportError

FAILED = 2


def application() -> typer.Typer:
    """Every command under its name."""
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Migrate PyTorch, Triton and CUDA kernels to AWS Trainium, with evidence.",
    )
    for command in (
        files.discover, files.judge, files.migrate, files.openapi, files.mcp,
        kernels.check, kernels.simulate, kernels.estimate,
        remote.submit, remote.watch, remote.gate, remote.jobs, remote.cancel, remote.fetch,
        demo,
    ):  # fmt: skip
        app.command()(command)
    app.add_typer(local.application(), name="local")
    app.add_typer(remote.evidence_application(), name="evidence")
    app.add_typer(files.bench_application(), name="bench")
    return app


def main() -> None:
    """Run a command; trouble is one sentence on stderr and exit code 2."""
    try:
        application()()
    except NkiportError as error:
        Console(stderr=True, highlight=False).print(f"[red]{type(error).__name__}[/]: ", end="")
        Console(stderr=True, highlight=False, markup=False).print(str(error))
        sys.exit(FAILED)
    except KeyboardInterrupt:
        sys.exit(130)
