"""The REST API: every route is named here, and each is a Lambda proxy."""

from typing import Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.accept import accept

ROUTES: Final = (
    ("POST", "jobs"),
    ("GET", "jobs"),
    ("GET", "jobs/{job_id}"),
    ("DELETE", "jobs/{job_id}"),
    ("GET", "jobs/{job_id}/artifacts/{path+}"),
    ("POST", "jobs/{job_id}/gates/{gate}"),
    ("POST", "uploads"),
    ("GET", "openapi.json"),
)
"""Method and path of what only an authorised caller reaches."""
LINKS: Final = (("GET", "gate-links/{token}"), ("POST", "gate-links/{token}"))
"""What a mail link reaches: its signature is the authorisation."""
BINARY: Final = ["application/zip", "application/octet-stream"]


class JobsApi(Construct):
    """``api``, with an access log, throttling and tracing."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        access = logs.LogGroup(
            self,
            "AccessLog",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name="nkiport",
            description="Jobs, gates and artifacts of nkiport",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            binary_media_types=BINARY,
            cloud_watch_role=True,
            deploy_options=apigateway.StageOptions(
                stage_name="v1",
                access_log_destination=apigateway.LogGroupLogDestination(access),
                access_log_format=apigateway.AccessLogFormat.json_with_standard_fields(
                    caller=True, http_method=True, ip=True, protocol=True, request_time=True,
                    resource_path=True, response_length=True, status=True, user=True,
                ),
                logging_level=apigateway.MethodLoggingLevel.ERROR,
                tracing_enabled=True,
                throttling_rate_limit=50,
                throttling_burst_limit=100,
            ),
        )  # fmt: skip
        accept(
            self.api,
            "API Gateway's own log policy, which AWS documents for exactly this role",
            "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
        )
        accept(self.api, "functions validate with pydantic and report every finding", "APIG2")
        accept(
            self.api.deployment_stage,
            "callers sign or hold a token; a web firewall is the account's choice",
            "APIG3",
        )

    def authorised(
        self, function: lambda_.IFunction, authorizer: apigateway.IAuthorizer | None
    ) -> None:
        """Open the job routes to signed callers, or to those an authorizer knows."""
        kind = apigateway.AuthorizationType
        for method, path in ROUTES:
            added = self._resource(path).add_method(
                method,
                apigateway.LambdaIntegration(function),
                authorization_type=kind.CUSTOM if authorizer else kind.IAM,
                authorizer=authorizer,
            )
            accept(added, "IAM or the operator's token; there is no user pool", "COG4")

    def linked(self, function: lambda_.IFunction) -> None:
        """Open the mail-link routes to whoever holds the link."""
        for method, path in LINKS:
            added = self._resource(path).add_method(
                method,
                apigateway.LambdaIntegration(function),
                authorization_type=apigateway.AuthorizationType.NONE,
            )
            accept(added, "the link's signature is the authorisation", "APIG4", "COG4")

    def _resource(self, path: str) -> apigateway.Resource:
        return self.api.root.resource_for_path(path)
