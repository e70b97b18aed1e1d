"""Alarms that reach a person: each says in its description what happened and what to do."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

FIVE_MINUTES = Duration.minutes(5)


class Alarms(Construct):
    """``topic``, which alarms and the budget tell, and mails on if an address is given."""

    def __init__(self, scope: Construct, name: str, *, mail: str) -> None:
        super().__init__(scope, name)
        key = kms.Key(
            self, "Key", description="encrypts nkiport's alarms", enable_key_rotation=True
        )
        self.topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        for service in ("cloudwatch.amazonaws.com", "budgets.amazonaws.com"):
            self._let_tell(iam.ServicePrincipal(service), key)
        if mail:
            self.topic.add_subscription(subscriptions.EmailSubscription(mail))

    def when(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        description: str,
        *,
        reaches: float = 1,
        periods: int = 1,
    ) -> cloudwatch.Alarm:
        """Tell the topic when the metric reaches a value for that many periods."""
        alarm = cloudwatch.Alarm(
            self,
            name,
            metric=metric,
            threshold=reaches,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=description,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))
        return alarm

    def _let_tell(self, service: iam.ServicePrincipal, key: kms.Key) -> None:
        """Let a service publish for this account, and encrypt what it publishes."""
        ours = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[service],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions=ours,
            )
        )
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[service],
                actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                resources=["*"],  # in a key's own policy that is the key
                conditions=ours,
            )
        )
