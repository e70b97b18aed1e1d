"""Store a question that the machine asks, and mail the person who is to answer it."""

from collections.abc import Callable, Mapping
from functools import partial

import boto3

from lambdas._secrets import secret
from lambdas._settings import Asking
from lambdas._step import consumer
from lambdas._wiring import records
from nkiport.adapters.mail_notices import MailNotices
from nkiport.adapters.memory import SystemClock
from nkiport.adapters.ses_mailer import SesMailer
from nkiport.contracts.steps import OpenGateRequest
from nkiport.jobs.gates import open_gate
from nkiport.jobs.links import GateLinks


def build(env: Mapping[str, str]) -> Callable[[OpenGateRequest], None]:
    """Wire the table, the mail and what signs its links."""
    settings = Asking.from_env(env)
    return partial(
        open_gate,
        records=records(settings),
        notices=MailNotices(SesMailer(settings.mail_sender, boto3.client("sesv2"))),
        links=GateLinks(secret(settings.link_secret_arn), settings.public_base_url),
        clock=SystemClock(),
    )


handler = consumer(OpenGateRequest, build)
