"""Artifacts in an S3 bucket."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError

from nkiport.contracts.base import Key
from nkiport.contracts.errors import NotFound, StoreBusy

MISSING = frozenset({"404", "NoSuchKey", "NotFound"})
TAKEN = frozenset({"412", "PreconditionFailed"})
BUSY = frozenset({"SlowDown", "503", "ServiceUnavailable", "RequestTimeout", "InternalError",
                  "ConditionalRequestConflict"})  # fmt: skip


class S3Artifacts:
    """Named bytes under a bucket's keys."""

    def __init__(self, bucket: str, client: Any) -> None:
        self._bucket = bucket
        self._client = client

    def get(self, key: Key) -> bytes:
        """Read one artifact."""
        with _named(key):
            body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
            return bytes(body.read())

    def put(self, key: Key, data: bytes) -> None:
        """Write one artifact."""
        with _named(key):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=data)

    def put_new(self, key: Key, data: bytes) -> bool:
        """Write one artifact if the key is free: S3's conditional write."""
        try:
            with _named(key):
                self._client.put_object(Bucket=self._bucket, Key=key, Body=data, IfNoneMatch="*")
        except _Taken:
            return False
        return True

    def size(self, key: Key) -> int:
        """Bytes under the key."""
        with _named(key):
            return int(self._client.head_object(Bucket=self._bucket, Key=key)["ContentLength"])

    def keys(self, prefix: str) -> list[Key]:
        """Every key with the prefix, sorted."""
        with _named(prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix
            )
            return sorted(each["Key"] for page in pages for each in page.get("Contents", ()))

    def link(self, key: Key, seconds: int) -> str:
        """A signed address. Raises ``NotFound`` where it would lead to nothing."""
        self.size(key)
        asked = {"Bucket": self._bucket, "Key": key}
        return str(self._client.generate_presigned_url("get_object", asked, ExpiresIn=seconds))

    def upload_link(self, key: Key, size: int, seconds: int) -> str:
        """A signed address that takes exactly ``size`` bytes by PUT."""
        asked = {"Bucket": self._bucket, "Key": key, "ContentLength": size}
        return str(self._client.generate_presigned_url("put_object", asked, ExpiresIn=seconds))


class _Taken(Exception):
    """The key has an artifact."""


@contextmanager
def _named(key: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in MISSING:
            raise NotFound(f"no artifact '{key}'") from error
        if code in TAKEN:
            raise _Taken from error
        if code in BUSY:
            raise StoreBusy(f"the bucket is busy ({code}) at '{key}'") from error
        raise
