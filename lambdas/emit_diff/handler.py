"""Write the patch and the signed evidence."""

from collections.abc import Callable, Mapping
from functools import partial

import boto3

from lambdas._settings import Signing
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.kms_signer import KmsSigner
from nkiport.adapters.memory import SystemClock
from nkiport.contracts.steps import EmitDiffRequest, EmitDiffResult
from nkiport.jobs.emit_diff import emit_diff


def build(env: Mapping[str, str]) -> Callable[[EmitDiffRequest], EmitDiffResult]:
    """Wire the stores and the key that signs."""
    settings = Signing.from_env(env)
    signer = KmsSigner(settings.evidence_key_arn, boto3.client("kms"))
    return partial(emit_diff, **stores(settings), signer=signer, clock=SystemClock())


handler = step(EmitDiffRequest, build)
