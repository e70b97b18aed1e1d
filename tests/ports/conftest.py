"""Each port twice: the double of one process, and the adapter over moto."""

import boto3
import pytest
from moto import mock_aws

from nkiport.adapters import memory
from nkiport.adapters.dynamodb_records import DynamoRecords
from nkiport.adapters.s3_artifacts import S3Artifacts

REGION = "us-east-1"


@pytest.fixture
def aws(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        yield


@pytest.fixture(params=["memory", "s3"])
def artifacts(request):
    if request.param == "memory":
        return memory.Artifacts()
    request.getfixturevalue("aws")
    client = boto3.client("s3")
    client.create_bucket(Bucket="artifacts")
    return S3Artifacts("artifacts", client)


@pytest.fixture(params=["memory", "dynamodb"])
def records(request):
    if request.param == "memory":
        return memory.Records()
    request.getfixturevalue("aws")
    client = boto3.client("dynamodb")
    text = "S"
    client.create_table(
        TableName="jobs",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": text}
            for name in ("pk", "sk", "owner", "created_job")
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by_owner",
                "KeySchema": [
                    {"AttributeName": "owner", "KeyType": "HASH"},
                    {"AttributeName": "created_job", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    return DynamoRecords("jobs", client)
