"""``nkiport local``: the stacks on this machine."""

from typing import Annotated

import typer

from nkiport.cli.output import AsJson, as_json, console
from nkiport.local import stacks


def application() -> typer.Typer:
    """``up``, ``down``, ``status``."""
    app = typer.Typer(no_args_is_help=True, help="The stacks on this machine, without an account.")
    for command in (up, down, status):
        app.command()(command)
    return app


def up(
    workers: Annotated[int, typer.Option(help="How many workers simulate.")] = stacks.WORKERS,
    bedrock_url: Annotated[
        str, typer.Option(help="A server that speaks Converse, in the place of Bedrock.")
    ] = "",
    json: AsJson = False,
) -> None:
    """Start the emulator, deploy the stacks as synthesized, start the workers."""
    state = stacks.up(workers=workers, bedrock_url=bedrock_url)
    if json:
        as_json(state)
        return
    console().print(f"ready after {state.seconds:.1f} s\nAPI    {state.url}", soft_wrap=True)
    console().print("token  in .nkiport/state.json; the commands find it themselves")


def down(json: AsJson = False) -> None:
    """End everything, and leave nothing behind."""
    was_up = stacks.down()
    if json:
        as_json({"was_up": was_up})
    else:
        console().print("stopped" if was_up else "nothing was running")


def status(json: AsJson = False) -> None:
    """Whether the stacks are up, and where."""
    state = stacks.status()
    if json:
        as_json(state.model_dump() if state else {})
    else:
        console().print(state.url if state else "nothing is running", soft_wrap=True)
    if state is None:
        raise typer.Exit(1)
