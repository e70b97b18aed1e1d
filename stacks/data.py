"""What outlives every job: artifacts, records, the signing key, secrets."""

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from stacks.constructs.secrets import Secrets, evidence_key
from stacks.constructs.store import ArtifactBucket, JobTable


class Data(Stack):
    """The stores."""

    def __init__(self, scope: Construct) -> None:
        super().__init__(scope, "Data")
        self.bucket = ArtifactBucket(self, "Artifacts").bucket
        self.table = JobTable(self, "Jobs").table
        self.evidence_key = evidence_key(self)
        self.secrets = Secrets(self, "Secrets")
        CfnOutput(self, "ArtifactBucket", value=self.bucket.bucket_name)
        CfnOutput(self, "TableName", value=self.table.table_name)
        CfnOutput(self, "EvidenceKeyArn", value=self.evidence_key.key_arn)
        CfnOutput(self, "ApiTokenSecretArn", value=self.secrets.api_token.secret_arn)
        CfnOutput(self, "GitHubTokenSecretArn", value=self.secrets.github.secret_arn)
