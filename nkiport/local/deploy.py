"""Deploy a cloud assembly as it is, with boto3: assets first, then each stack in order."""

import json
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Self

import boto3

from nkiport.contracts.errors import BadRequest
from nkiport.local.emulator import REGION, client_environment

BOOTSTRAP: Final = "/cdk-bootstrap/hnb659fds/version"
"""What a bootstrapped account says of itself; every template asks."""
VERSION: Final = "30"
STACK_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.1


class Cloud:
    """The emulator's clients; a context manager that closes them."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        env = client_environment(endpoint)
        self._session = boto3.Session(
            aws_access_key_id=env["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=env["AWS_SECRET_ACCESS_KEY"],
            region_name=REGION,
        )

        self._open: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._open.values():
            client.close()

    def client(self, service: str) -> Any:
        """A client of one service, open until this is left."""
        if service not in self._open:
            made = self._session.client(service, endpoint_url=self.endpoint)  # type: ignore[call-overload]
            self._open[service] = made
        return self._open[service]

    def secret(self, arn: str) -> str:
        """The text of a secret."""
        found = self.client("secretsmanager").get_secret_value(SecretId=arn)
        return str(found["SecretString"])


def deploy(assembly: Path, cloud: Cloud) -> dict[str, str]:
    """Deploy every stack; return all their outputs. Raises ``BadRequest`` with what failed."""
    account = cloud.client("sts").get_caller_identity()["Account"]
    cloud.client("ssm").put_parameter(Name=BOOTSTRAP, Value=VERSION, Type="String")
    for manifest in sorted(assembly.glob("*.assets.json")):
        _upload(assembly, json.loads(manifest.read_text()), cloud, account)
    outputs: dict[str, str] = {}
    for name, properties in _stacks(assembly):
        outputs |= _stack(name, properties, cloud, account)
    return outputs


def _stacks(assembly: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Stacks with their properties, each after those it depends on."""
    artifacts = json.loads((assembly / "manifest.json").read_text())["artifacts"]
    waiting = {n: a for n, a in artifacts.items() if a["type"] == "aws:cloudformation:stack"}
    while waiting:
        ready = [n for n, a in waiting.items() if not set(a.get("dependencies", ())) & set(waiting)]
        for name in ready:
            yield name, waiting.pop(name)["properties"]


def _upload(assembly: Path, manifest: Mapping[str, Any], cloud: Cloud, account: str) -> None:
    s3 = cloud.client("s3")
    for asset in manifest["files"].values():
        path = assembly / asset["source"]["path"]
        data = _zipped(path) if asset["source"].get("packaging") == "zip" else path.read_bytes()
        for where in asset["destinations"].values():
            bucket = _filled(where["bucketName"], account)
            s3.create_bucket(Bucket=bucket)
            s3.put_object(Bucket=bucket, Key=where["objectKey"], Body=data)


def _zipped(folder: Path) -> bytes:
    """The folder as a zip, kept beside it for the next time."""
    packed = folder.with_name(f"{folder.name}.packed")
    if not packed.exists():
        with (
            tempfile.NamedTemporaryFile(dir=folder.parent, delete=False) as made,
            zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(folder))
        Path(made.name).replace(packed)  # whole, or not there
    return packed.read_bytes()


def _stack(name: str, properties: Mapping[str, Any], cloud: Cloud, account: str) -> dict[str, str]:
    formation = cloud.client("cloudformation")
    url = _filled(properties["stackTemplateAssetObjectUrl"], account).removeprefix("s3://")
    formation.create_stack(
        StackName=name,
        TemplateURL=f"{cloud.endpoint}/{url}",
        Parameters=_parameters(name, cloud),
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
    )
    until = time.monotonic() + STACK_SECONDS
    while time.monotonic() < until:
        stack = formation.describe_stacks(StackName=name)["Stacks"][0]
        if stack["StackStatus"] == "CREATE_COMPLETE":
            return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}
        if stack["StackStatus"] != "CREATE_IN_PROGRESS":
            break
        time.sleep(POLL_SECONDS)
    raise BadRequest(f"stack {name} was not created: {_why(formation, name)}")


def _parameters(stack: str, cloud: Cloud) -> list[dict[str, str]]:
    if stack != "Api":
        return []
    return [{"ParameterKey": "PublicEndpoint", "ParameterValue": cloud.endpoint}]


def _why(formation: Any, name: str) -> str:
    events = formation.describe_stack_events(StackName=name)["StackEvents"]
    failed = [e for e in events if "FAILED" in e["ResourceStatus"]]
    said = [f"{e['LogicalResourceId']}: {e.get('ResourceStatusReason', '')}" for e in failed]
    return "; ".join(said) or "it took too long"


def _filled(text: str, account: str) -> str:
    values = {"AccountId": account, "Region": REGION, "Partition": "aws"}
    for key, value in values.items():
        text = text.replace(f"${{AWS::{key}}}", value)
    return text
