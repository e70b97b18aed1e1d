"""What the state machine caught, in words a person can act on."""

import json
from collections.abc import Mapping
from typing import Any, Final

LONGEST: Final = 1000
SILENT: Final = {
    "States.HeartbeatTimeout": "the worker fell silent; it may be run again as it is",
    "States.Timeout": "nothing answered in time; it may be run again as it is",
}


def worded(event: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the ``error`` that a catch wrote into the ``reason`` of the step's request.

    >>> worded({"job_id": "j", "error": {"Error": "States.Timeout", "Cause": ""}})["reason"]
    'States.Timeout: nothing answered in time; it may be run again as it is'
    """
    said = {name: value for name, value in event.items() if name != "error"}
    return said if "error" not in event else said | {"reason": reason(event["error"])}


def reason(error: Mapping[str, Any]) -> str:
    """Name the error and say why; no stack, and no longer than a screen."""
    name = str(error.get("Error", "unknown trouble"))
    why = _message(error.get("Cause") or "") or SILENT.get(name, "no cause was given")
    return f"{name}: {why}"[:LONGEST]


def _message(cause: str) -> str:
    """A Lambda's cause is JSON with the message inside; a worker's is plain text."""
    try:
        told = json.loads(cause)
    except json.JSONDecodeError:
        return cause
    return str(told.get("errorMessage", cause)) if isinstance(told, dict) else cause
