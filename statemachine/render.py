"""Write the machine as ASL: ``python -m statemachine.render``. Reviewed, linted and executed."""

from pathlib import Path

from statemachine.node import use_wheel_node

FILE = Path(__file__).with_name("migration_job.asl.json")


def main() -> None:
    """Write the golden file."""
    use_wheel_node()
    from statemachine.rendering import text

    FILE.write_text(text())


if __name__ == "__main__":
    main()
