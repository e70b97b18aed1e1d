"""Write the OpenAPI document: ``python -m lambdas.api.openapi``."""

import json
from pathlib import Path

from lambdas.api.routes import Ports, application, described

FILE = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


def _none() -> Ports:
    raise LookupError("describing the API needs no ports")


def document() -> str:
    """The document as it is checked in."""
    return json.dumps(json.loads(described(application(_none))), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(document())
