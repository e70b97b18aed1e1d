"""Write the machines as ASL: ``python -m statemachine.render``. Reviewed, linted and executed."""

from pathlib import Path

from statemachine.node import use_wheel_node

FILE = Path(__file__).with_name("migration_job.asl.json")
BENCHMARK_FILE = Path(__file__).with_name("benchmark.asl.json")


def main() -> None:
    """Write the golden files."""
    use_wheel_node()
    from statemachine import rendering

    FILE.write_text(rendering.text(rendering.migration_job_definition()))
    BENCHMARK_FILE.write_text(rendering.text(rendering.benchmark_definition()))


if __name__ == "__main__":
    main()
