"""Offer the patch where the job asked."""

from collections.abc import Callable, Mapping
from functools import partial

import httpx

from lambdas._secrets import secret_field
from lambdas._settings import Delivering
from lambdas._step import step
from lambdas._wiring import stores
from nkiport.adapters.github_forge import GitHubForge
from nkiport.contracts.steps import DeliverRequest, DeliverResult
from nkiport.jobs.deliver import deliver

GITHUB = "https://api.github.com"


def build(env: Mapping[str, str]) -> Callable[[DeliverRequest], DeliverResult]:
    """Wire the stores, and GitHub if there is a token."""
    settings = Delivering.from_env(env)
    token = secret_field(settings.github_token_secret_arn, "token")
    forge = GitHubForge(token, httpx.Client(base_url=GITHUB, timeout=30)) if token else None
    return partial(deliver, **stores(settings), forge=forge)


handler = step(DeliverRequest, build)
