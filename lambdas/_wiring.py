"""The ports that several steps are wired to, from their settings."""

from typing import TypedDict

import boto3

from lambdas._settings import Stores, Table
from nkiport.adapters.dynamodb_records import DynamoRecords
from nkiport.adapters.s3_artifacts import S3Artifacts


class StorePorts(TypedDict):
    """The two ports nearly every step has."""

    artifacts: S3Artifacts
    records: DynamoRecords


def stores(settings: Stores) -> StorePorts:
    """Wire the bucket and the table."""
    return {
        "artifacts": S3Artifacts(settings.artifact_bucket, boto3.client("s3")),
        "records": records(settings),
    }


def records(settings: Table) -> DynamoRecords:
    """Wire the table."""
    return DynamoRecords(settings.table_name, boto3.client("dynamodb"))
