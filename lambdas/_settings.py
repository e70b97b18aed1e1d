"""The settings of every entry point: one closed model each, named as its environment variables."""

from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """Read from the environment; a test compares the fields with the template, both ways."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """Take the variables named as the fields are, in capitals."""
        names = {name: name.upper() for name in cls.model_fields}
        return cls.model_validate({n: env[var] for n, var in names.items() if var in env})


class Table(Settings):
    """The table alone."""

    table_name: str


class Stores(Table):
    """The bucket and the table."""

    artifact_bucket: str


class Models(Stores):
    """The stores, and the models that may write candidates; empty means there is none."""

    claude_model_id: str
    qwen_cmi_arn: str
    vllm_endpoint: str


class Signing(Stores):
    """The stores, and the KMS key that signs evidence."""

    evidence_key_arn: str


class Delivering(Stores):
    """The stores, and the secret with the GitHub token."""

    github_token_secret_arn: str


class Asking(Table):
    """What opening a gate needs: whom mail comes from, what signs links and where they lead."""

    mail_sender: str
    link_secret_arn: str
    public_base_url: str


class Serving(Stores):
    """What the API needs beside the stores: the machine it starts and stops."""

    state_machine_arn: str


class Linking(Stores):
    """What a gate's mail link needs: the secret that signed it."""

    link_secret_arn: str


class Authorizing(Settings):
    """What the local authorizer needs: the secret with the token."""

    api_token_secret_arn: str


class Redriving(Settings):
    """Each queue, and where its dead letters lie."""

    gate_queue_url: str
    gate_dead_letters_url: str
    device_queue_url: str
    device_dead_letters_url: str
