"""What a month may cost before somebody is told."""

from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_sns as sns
from constructs import Construct


def monthly_budget(scope: Construct, usd: int, topic: sns.ITopic) -> budgets.CfnBudget:
    """Tell the topic at 80 % spent, and when the forecast passes the whole."""

    def told(kind: str, percent: int) -> budgets.CfnBudget.NotificationWithSubscribersProperty:
        return budgets.CfnBudget.NotificationWithSubscribersProperty(
            notification=budgets.CfnBudget.NotificationProperty(
                comparison_operator="GREATER_THAN",
                notification_type=kind,
                threshold=percent,
                threshold_type="PERCENTAGE",
            ),
            subscribers=[
                budgets.CfnBudget.SubscriberProperty(
                    address=topic.topic_arn, subscription_type="SNS"
                )
            ],
        )

    return budgets.CfnBudget(
        scope,
        "Budget",
        budget=budgets.CfnBudget.BudgetDataProperty(
            budget_type="COST",
            time_unit="MONTHLY",
            budget_limit=budgets.CfnBudget.SpendProperty(amount=usd, unit="USD"),
        ),
        notifications_with_subscribers=[told("ACTUAL", 80), told("FORECASTED", 100)],
    )
