"""Records in one DynamoDB table: ``pk``, ``sk``, the version, and the record as JSON.

A job also carries ``owner`` and ``created_job``, the keys of the index ``by_owner``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from nkiport.contracts.errors import Conflict, StoreBusy
from nkiport.contracts.jobs import Job, Record

R = TypeVar("R", bound=Record)
BUSY = frozenset(
    {
        "InternalServerError", "ProvisionedThroughputExceededException",
        "RequestLimitExceeded", "ThrottlingException", "TransactionConflictException",
    }
)  # fmt: skip


class DynamoRecords:
    """The table; every write has a condition, every read is consistent."""

    def __init__(self, table: str, client: Any) -> None:
        self._table = table
        self._client = client

    def add(self, record: Record) -> bool:
        """Insert if the key is free."""
        return self._put(record, "attribute_not_exists(pk)", {})

    def get(self, kind: type[R], partition: str, sort: str) -> R | None:
        """One record, or None."""
        with _busy():
            found = self._client.get_item(
                TableName=self._table, Key=_key(partition, sort), ConsistentRead=True
            )
        item = found.get("Item")
        return _record(kind, item) if item and item["kind"]["S"] == kind.__name__ else None

    def replace(self, record: R) -> R:
        """Write if nobody wrote since the record was read."""
        written = record.model_copy(update={"version": record.version + 1})
        seen = {":seen": {"N": str(record.version)}}
        if not self._put(written, "version = :seen", seen):
            raise Conflict(
                f"{record.partition()} {record.sort()} changed since version "
                f"{record.version} was read"
            )
        return written

    def query(self, kind: type[R], partition: str, sort_prefix: str) -> list[R]:
        """The records of a partition with a sort prefix, in sort order."""
        condition = "pk = :p AND begins_with(sk, :s)"
        values = {":p": {"S": partition}, ":s": {"S": sort_prefix}}
        with _busy():
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table, KeyConditionExpression=condition,
                ExpressionAttributeValues=values, ConsistentRead=True,
            )  # fmt: skip
            items = [item for page in pages for item in page["Items"]]
        return [_record(kind, item) for item in items if item["kind"]["S"] == kind.__name__]

    def jobs(self, owner: str, limit: int, before: str | None = None) -> list[Job]:
        """An owner's jobs, newest first; the index may be a moment behind."""
        condition, values = "#o = :o", {":o": {"S": owner}}
        last = self.get(Job, f"JOB#{before}", "JOB") if before else None
        if last and last.owner == owner:
            condition += " AND created_job < :last"
            values[":last"] = {"S": _created(last)}
        with _busy():
            found = self._client.query(
                TableName=self._table, IndexName="by_owner", KeyConditionExpression=condition,
                ExpressionAttributeNames={"#o": "owner"}, ExpressionAttributeValues=values,
                ScanIndexForward=False, Limit=limit,
            )  # fmt: skip
        return [_record(Job, item) for item in found["Items"]]

    def _put(self, record: Record, condition: str, values: dict[str, Any]) -> bool:
        more = {"ExpressionAttributeValues": values} if values else {}
        try:
            with _busy():
                self._client.put_item(
                    TableName=self._table, Item=_item(record), ConditionExpression=condition,
                    **more,
                )  # fmt: skip
        except self._client.exceptions.ConditionalCheckFailedException:
            return False
        return True


def _item(record: Record) -> dict[str, Any]:
    item = {
        **_key(record.partition(), record.sort()),
        "kind": {"S": type(record).__name__},
        "version": {"N": str(record.version)},
        "body": {"S": record.model_dump_json()},
    }
    if isinstance(record, Job):
        item |= {"owner": {"S": record.owner}, "created_job": {"S": _created(record)}}
    return item


def _created(job: Job) -> str:
    return f"{job.created:%Y-%m-%dT%H:%M:%S.%f}#{job.job_id}"


def _key(partition: str, sort: str) -> dict[str, Any]:
    return {"pk": {"S": partition}, "sk": {"S": sort}}


def _record(kind: type[R], item: dict[str, Any]) -> R:
    return kind.model_validate_json(item["body"]["S"])


@contextmanager
def _busy() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in BUSY:
            raise StoreBusy(f"the table is busy ({code})") from error
        raise
