"""Deliver: offer the patch where the job asked."""

from nkiport.contracts import keys
from nkiport.contracts.errors import NotFound
from nkiport.contracts.jobs import Job
from nkiport.contracts.steps import DeliverRequest, DeliverResult
from nkiport.delivery import pull_request_body, title_of
from nkiport.delivery.words import on_silicon
from nkiport.jobs.delivered import all_files, delivered_kernels
from nkiport.jobs.ports import Artifacts, Forge, Records


def deliver(
    request: DeliverRequest, *, records: Records, artifacts: Artifacts, forge: Forge | None
) -> DeliverResult:
    """Open a pull request if the job names a repository; the patch is there in any case.

    Raises ``DeliveryFailed`` if the forge did not take it.
    """
    job = records.get(Job, f"JOB#{request.job_id}", "JOB")
    if job is None:
        raise NotFound(f"no job '{request.job_id}'")
    patch = f"the patch lies at '{keys.patch(job.job_id)}'"
    wanted = job.request.delivery
    if wanted.github_repository is None:
        return DeliverResult(job_id=job.job_id, outcome="delivered", reason=patch)
    if forge is None:
        why = f"no GitHub token is set up, so no pull request was opened; {patch}"
        return DeliverResult(job_id=job.job_id, outcome="failed", reason=why)
    delivered = delivered_kernels(job.job_id, records, artifacts)
    evidence = [each.evidence for each in delivered]
    branch = f"nkiport/{job.job_id}"
    url = forge.open_pull_request(
        repository=wanted.github_repository,
        base=wanted.base_branch,
        branch=branch,
        files=all_files(delivered),
        title=title_of(evidence),
        body=pull_request_body(evidence),
        draft=not on_silicon(evidence),
    )
    return DeliverResult(
        job_id=job.job_id, outcome="delivered", pull_request=url, branch=branch, reason=patch
    )
