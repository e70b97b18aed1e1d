"""What a function or a worker may touch, in the few shapes there are; nothing else is granted."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

from stacks.constructs.accept import accept_under

TABLE_VERBS: Final = ("GetItem", "PutItem", "UpdateItem", "Query")


class Access:
    """Mixed into whatever acts under a ``role`` of its own."""

    role: iam.Role

    def reads(self, bucket: s3.IBucket, *prefixes: str) -> None:
        """Let it read objects under the prefixes, and list them."""
        self._objects(["s3:GetObject"], bucket, prefixes)
        self.may(["s3:ListBucket"], bucket.bucket_arn)

    def writes(self, bucket: s3.IBucket, *prefixes: str) -> None:
        """Let it write objects under the prefixes."""
        self._objects(["s3:PutObject"], bucket, prefixes)

    def records(self, table: dynamodb.ITable, *, by_owner: bool = False) -> None:
        """Let it read and write the table, and an owner's list of jobs if asked for."""
        self.may([f"dynamodb:{verb}" for verb in TABLE_VERBS], table.table_arn)
        if by_owner:
            self.may(["dynamodb:Query"], f"{table.table_arn}/index/by_owner")

    def secret(self, secret: secretsmanager.ISecret) -> None:
        """Let it read a secret."""
        self.may(["secretsmanager:GetSecretValue"], secret.secret_arn)

    def may(self, actions: Sequence[str], *resources: str) -> None:
        """Let it do exactly this."""
        self.role.add_to_principal_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resources))
        )

    def _objects(self, actions: Sequence[str], bucket: s3.IBucket, prefixes: Sequence[str]) -> None:
        endings = [f"/{prefix}/*" for prefix in prefixes]
        self.may(actions, *(bucket.bucket_arn + ending for ending in endings))
        accept_under(self.role, "the objects of one prefix, and no others", bucket, *endings)
