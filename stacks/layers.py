"""The Lambda layers: third-party wheels, pinned by the lock file, built without docker.

``python -m stacks.layers --platform host|lambda [--out .build/layers]`` fills one folder for each
layer and does nothing where the pins did not change. ``lambda`` is what AWS runs (Linux on arm64,
Python 3.13); ``host`` is this interpreter, for the emulator, where ``mounts`` holds each layer's
place instead of its files.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from stacks import ROOT

LAYERS: Final = {
    "base": ("aws-lambda-powertools", "aws-xray-sdk", "httpx", "jinja2", "pydantic",
             "securesystemslib"),
    "source": ("dulwich", "tree-sitter", "tree-sitter-cuda"),
    "numeric": ("numpy", "ml_dtypes"),
}  # fmt: skip
"""What each layer holds beside what that needs itself. The runtime brings boto3."""

PROVIDED: Final = ("boto3", "botocore", "s3transfer", "jmespath")
"""What the runtime has: left out of every layer."""

TARGETS: Final[dict[str, list[str]]] = {
    "host": [],
    "lambda": [
        "--platform", "manylinux_2_28_aarch64", "--platform", "manylinux2014_aarch64",
        "--python-version", "3.13", "--implementation", "cp", "--only-binary=:all:",
    ],
}  # fmt: skip


def digest(layer: str, platform: str) -> str:
    """The SHA-256 of what a layer is made of: what it holds, the pins, and for what machine.

    Whatever is not a target of its own (``mounts``) is for this machine.
    """
    lock = (ROOT / "requirements.lock").read_text()
    host = f"{sys.platform} {sys.version_info.major}.{sys.version_info.minor}"
    made_for = " ".join(TARGETS.get(platform, ())) or f"{host} mounted"
    return hashlib.sha256("\n".join((*LAYERS[layer], made_for, lock)).encode()).hexdigest()


def build(platform: str, out: Path) -> list[str]:
    """Install the layers that are missing or whose pins changed; return their names."""
    return [layer for layer in LAYERS if _built(layer, platform, out / platform / layer)]


def _built(layer: str, platform: str, folder: Path) -> bool:
    marker = folder / ".digest"
    wanted = digest(layer, platform)
    if marker.exists() and marker.read_text() == wanted:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    _install(layer, platform, folder / "python")
    marker.write_text(wanted)
    return True


def _install(layer: str, platform: str, target: Path) -> None:
    command = [
        sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check",
        "--no-compile", "--constraint", str(ROOT / "requirements.lock"), "--target", str(target),
        *TARGETS[platform], *LAYERS[layer],
    ]  # fmt: skip
    subprocess.run(command, check=True)
    for name in PROVIDED:
        for left in target.glob(f"{name}*"):
            shutil.rmtree(left)
    if platform == "host":
        _compile(target)
        _mount(target, target.parents[2] / "mounts" / target.parent.name)


def _compile(target: Path) -> None:
    """Byte-code beside the sources, so that no function compiles them at its start."""
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "0", str(target)], check=True)


def _mount(target: Path, folder: Path) -> None:
    """Make a layer of one path file.

    AWS mounts layers; the emulator unzips them for each new worker, and 1,800 files cost every cold
    start a second. Python reads path files in a layer's ``site-packages``; what it names goes
    first, as a layer does.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "python" / "lib" / version / "site-packages"
    packages.mkdir(parents=True, exist_ok=True)
    line = f"import sys; sys.path.insert(0, {str(target)!r})\n"
    (packages / f"{folder.name}.pth").write_text(line)


def main(arguments: list[str] | None = None) -> None:
    """Build the layers of one platform."""
    parser = argparse.ArgumentParser(prog="python -m stacks.layers", description=__doc__)
    parser.add_argument("--platform", choices=sorted(TARGETS), required=True)
    parser.add_argument("--out", type=Path, default=ROOT / ".build" / "layers")
    given = parser.parse_args(arguments)
    for layer in build(given.platform, given.out):
        sys.stdout.write(f"built layer {layer} for {given.platform}\n")


if __name__ == "__main__":
    main()
