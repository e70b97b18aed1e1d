"""Seal a kernel's oracle: what is judged, how, and a commitment to a secret seed."""

from random import Random

from nkiport.contracts import keys
from nkiport.contracts.base import Contract
from nkiport.contracts.capture import Capture
from nkiport.contracts.jobs import Job, Kernel
from nkiport.contracts.judgement import Oracle, Requirements, Seed
from nkiport.jobs.ports import Artifacts
from nkiport.judge.evidence import commitment

SEED_BITS, NONCE_BITS = 63, 128


def seal_kernel(
    job: Job, kernel: Kernel, requirements: Requirements, *, artifacts: Artifacts, entropy: Random
) -> Oracle:
    """Write the seed and the oracle if they are not there, and return what was sealed first.

    ``entropy`` is ``secrets.SystemRandom()`` outside of tests. Raises ``NotFound`` if the kernel
    was never captured.
    """
    where = job.job_id, kernel.kernel_id
    drawn = Seed(
        seed=entropy.getrandbits(SEED_BITS), nonce=f"{entropy.getrandbits(NONCE_BITS):032x}"
    )
    artifacts.put_new(keys.seed(*where), _json(drawn))
    seed = Seed.model_validate_json(artifacts.get(keys.seed(*where)))
    capture = Capture.model_validate_json(artifacts.get(keys.capture(*where)))
    oracle = Oracle(
        job_id=job.job_id,
        kernel_id=kernel.kernel_id,
        source_sha256=capture.source_sha256,
        commit=getattr(job.request.source, "commit", ""),
        reference=capture.reference,
        inputs=capture.inputs,
        outputs=capture.outputs,
        requirements=requirements,
        target=job.request.target,
        seed_commitment=commitment(seed),
        float64_golden=capture.float64_golden,
        flops=capture.flops,
        bytes_moved=capture.bytes_moved,
    )
    artifacts.put_new(keys.oracle(*where), _json(oracle))
    return Oracle.model_validate_json(artifacts.get(keys.oracle(*where)))


def _json(message: Contract) -> bytes:
    return message.model_dump_json().encode()
