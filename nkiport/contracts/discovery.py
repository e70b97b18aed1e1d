"""What a static walk of a source tree found, and what it skipped."""

from typing import Literal

from pydantic import Field

from nkiport.contracts.base import Contract, KernelId

KernelKind = Literal["triton", "module", "cuda", "nki"]


class FoundKernel(Contract):
    """Something worth migrating, or (kind ``nki``) already migrated."""

    kernel_id: KernelId
    name: str = Field(description="dotted name inside the file, for example 'Block.forward'")
    kind: KernelKind
    file: str = Field(description="path inside the tree, with forward slashes")
    line: int
    end_line: int
    signature: str
    why: str = Field(description="the rule that found it, as a sentence")
    missing: tuple[str, ...] = Field(
        default=(), description="what must be given before it can be judged; empty if nothing"
    )
    launches: tuple[str, ...] = Field(
        default=(), description="'file:line symbol' of each place that calls it"
    )
    launcher: str | None = Field(
        default=None, description="the Python function or class, 'file:symbol', that runs it"
    )
    proposed_reference: str | None = Field(
        default=None, description="'file:symbol' of a PyTorch class beside a CUDA kernel"
    )
    rank: float = Field(default=0.0, description="estimate of work; larger first")
    snippet: str = Field(default="", max_length=1500)


class SkippedFile(Contract):
    """A file or folder that was not read, with the reason."""

    file: str
    reason: str


class Discovery(Contract):
    """The result of one walk; kernels are ranked, the most work first."""

    kernels: tuple[FoundKernel, ...]
    already_nki: tuple[FoundKernel, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    files_read: int = 0
