"""Secrets are read by their ARN; a token that nobody gave is empty."""

import boto3
import pytest
from moto import mock_aws

from lambdas._secrets import secret, secret_field


@pytest.fixture
def manager():
    with mock_aws():
        yield boto3.client(
            "secretsmanager",
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )


def test_a_plain_secret_is_read_as_it_is(manager):
    arn = manager.create_secret(Name="link", SecretString="sign-with-this")["ARN"]

    assert secret(arn, client=manager) == "sign-with-this"


@pytest.mark.parametrize(
    ("stored", "read"), [('{"token": "ghp_1"}', "ghp_1"), ('{"token": ""}', ""), ("{}", "")]
)
def test_a_field_that_is_not_there_is_empty(manager, stored, read):
    arn = manager.create_secret(Name="github", SecretString=stored)["ARN"]

    assert secret_field(arn, "token", client=manager) == read
