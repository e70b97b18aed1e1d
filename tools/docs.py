"""Rewrite every generated page and golden file. Tests compare each with what is checked in."""

import subprocess
import sys

GENERATORS = (
    ("message schemas", "nkiport.contracts.schema"),
    ("the table of NKI ops", "nkiport.nki.docs"),
    ("the page of conformance", "tests.conformance.page"),
    ("the OpenAPI document", "lambdas.api.openapi"),
    ("the state machine", "statemachine.render"),
)


def main() -> int:
    """Run each generator; the first failure ends it."""
    for what, module in GENERATORS:
        sys.stdout.write(f"{what}: python -m {module}\n")
        subprocess.run([sys.executable, "-m", module], check=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
