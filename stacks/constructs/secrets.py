"""The secrets people and machines bring, and the key that signs evidence."""

from aws_cdk import RemovalPolicy, SecretValue
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from stacks.constructs.accept import accept


class Secrets(Construct):
    """``link`` signs gate links, ``api_token`` opens the local API, ``github`` pushes."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        self.link = self._generated("LinkSecret", "signs the links in gate mails")
        self.api_token = self._generated("ApiToken", "opens the API where IAM does not")
        self.github = secretsmanager.Secret(
            self,
            "GitHubToken",
            description="a GitHub token that may push and open pull requests; empty means none",
            secret_object_value={"token": SecretValue.unsafe_plain_text("")},
            removal_policy=RemovalPolicy.RETAIN,
        )
        accept(self.github, "GitHub issues it; nothing here could rotate it", "SMG4")

    def _generated(self, name: str, description: str) -> secretsmanager.Secret:
        secret = secretsmanager.Secret(
            self,
            name,
            description=description,
            generate_secret_string=secretsmanager.SecretStringGenerator(
                exclude_punctuation=True, password_length=48
            ),
        )
        accept(secret, "rotating it would void the gate links and tokens people hold", "SMG4")
        return secret


def evidence_key(scope: Construct) -> kms.Key:
    """Sign evidence; the private half never leaves KMS."""
    return kms.Key(
        scope,
        "EvidenceKey",
        description="signs nkiport evidence",
        key_spec=kms.KeySpec.ECC_NIST_P256,
        key_usage=kms.KeyUsage.SIGN_VERIFY,
        removal_policy=RemovalPolicy.RETAIN,
    )
