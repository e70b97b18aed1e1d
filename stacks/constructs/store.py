"""Where a job's artifacts and records lie."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.accept import accept


class ArtifactBucket(Construct):
    """A private, versioned bucket, and the bucket of its access log."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        log = _bucket(self, "AccessLog", expiration=Duration.days(90))
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            server_access_logs_bucket=log,
            removal_policy=RemovalPolicy.RETAIN,
            lifecycle_rules=[
                s3.LifecycleRule(
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                    noncurrent_version_expiration=Duration.days(30),
                ),
                s3.LifecycleRule(prefix="uploads/", expiration=Duration.days(30)),
            ],
        )


class JobTable(Construct):
    """The single table: ``pk``, ``sk``, and an owner's jobs in the order they were made."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        self.table = dynamodb.Table(
            self,
            "Table",
            partition_key=_text("pk"),
            sort_key=_text("sk"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            time_to_live_attribute="ttl",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=RemovalPolicy.RETAIN,
        )
        self.table.add_global_secondary_index(
            index_name="by_owner", partition_key=_text("owner"), sort_key=_text("created_job")
        )


def _bucket(scope: Construct, name: str, *, expiration: Duration) -> s3.Bucket:
    bucket = s3.Bucket(
        scope,
        name,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        removal_policy=RemovalPolicy.RETAIN,
        lifecycle_rules=[s3.LifecycleRule(expiration=expiration)],
    )
    accept(bucket, "it is the access log; logging its own writes would never end", "S1")
    return bucket


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
