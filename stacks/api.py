"""The way in: the REST API, the gate mails and their links."""

from aws_cdk import CfnOutput, CfnParameter, Duration, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_ses as ses
from constructs import Construct

from stacks.constructs.grants import may_answer_gates, may_mail, may_run
from stacks.constructs.rest_api import JobsApi
from stacks.constructs.step_lambda import StepLambda
from stacks.data import Data
from stacks.deployment import Deployment
from stacks.pipeline import Pipeline


class Api(Stack):
    """Everything a person or a client calls, and the mails that ask them to."""

    def __init__(
        self, scope: Construct, *, deployment: Deployment, data: Data, pipeline: Pipeline
    ) -> None:
        super().__init__(scope, "Api")
        self.http = JobsApi(self, "Http")
        address = self._address(deployment)
        known = {
            "ARTIFACT_BUCKET": data.bucket.bucket_name,
            "TABLE_NAME": data.table.table_name,
            "STATE_MACHINE_ARN": pipeline.migration_job.state_machine_arn,
            "LINK_SECRET_ARN": data.secrets.link.secret_arn,
            "API_TOKEN_SECRET_ARN": data.secrets.api_token.secret_arn,
            "MAIL_SENDER": deployment.mail_sender,
            "PUBLIC_BASE_URL": address,
        }
        self._serve(deployment, data, pipeline, known)
        self._link(deployment, data, pipeline, known)
        self._ask(deployment, data, pipeline, known)
        CfnOutput(self, "ApiUrl", value=address)

    def _serve(
        self, deployment: Deployment, data: Data, pipeline: Pipeline, known: dict[str, str]
    ) -> None:
        """Answer the job routes."""
        api = StepLambda(self, "api", deployment=deployment, known=known)
        may_answer_gates(api, data, pipeline.migration_job)
        may_run(api, pipeline.migration_job)
        api.records(data.table, by_owner=True)
        api.reads(data.bucket, "uploads")
        api.writes(data.bucket, "uploads")
        self.http.authorised(api.function, self._authorizer(deployment, data, known))

    def _authorizer(
        self, deployment: Deployment, data: Data, known: dict[str, str]
    ) -> apigateway.IAuthorizer | None:
        """Where there is no IAM, a bearer token that lies in a secret."""
        if deployment.auth == "iam":
            return None
        authorizer = StepLambda(self, "authorizer", deployment=deployment, known=known)
        authorizer.secret(data.secrets.api_token)
        return apigateway.TokenAuthorizer(
            self,
            "TokenAuthorizer",
            handler=authorizer.function,
            results_cache_ttl=Duration.minutes(5),
        )

    def _link(
        self, deployment: Deployment, data: Data, pipeline: Pipeline, known: dict[str, str]
    ) -> None:
        """Answer the links in mails."""
        link = StepLambda(self, "gate_link", deployment=deployment, known=known)
        may_answer_gates(link, data, pipeline.migration_job)
        link.secret(data.secrets.link)
        self.http.linked(link.function)

    def _ask(
        self, deployment: Deployment, data: Data, pipeline: Pipeline, known: dict[str, str]
    ) -> None:
        """Open gates and mail about them."""
        opening = StepLambda(self, "open_gate", deployment=deployment, known=known)
        opening.records(data.table)
        opening.may(["dynamodb:DeleteItem"], data.table.table_arn)
        opening.secret(data.secrets.link)
        may_mail(opening, deployment)
        opening.function.add_event_source(
            sources.SqsEventSource(
                pipeline.gates.queue, batch_size=5, report_batch_item_failures=True
            )
        )
        if deployment.verify_sender:
            ses.EmailIdentity(self, "Sender", identity=ses.Identity.email(deployment.mail_sender))

    def _address(self, deployment: Deployment) -> str:
        """Where the API is reached; the emulator serves it under its own address."""
        if not deployment.emulated:
            return self.http.api.url
        endpoint = CfnParameter(
            self,
            "PublicEndpoint",
            default="http://127.0.0.1:4566",
            description="where the emulator listens",
        ).value_as_string
        stage = self.http.api.deployment_stage.stage_name
        return f"{endpoint}/restapis/{self.http.api.rest_api_id}/{stage}/_user_request_/"
