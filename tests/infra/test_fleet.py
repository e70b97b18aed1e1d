"""The workers' stack: nothing runs when nothing waits, and nothing leads to the internet."""

import json


def _only(resources, kind):
    ((_stack, _name, properties),) = [found for found in resources(kind) if found[0] == "Fleet"]
    return properties


def test_without_work_there_is_no_instance_and_no_task(resources):
    assert _only(resources, "AWS::AutoScaling::AutoScalingGroup")["MinSize"] == "0"
    assert _only(resources, "AWS::ECS::Service")["DesiredCount"] == 0
    assert _only(resources, "AWS::ApplicationAutoScaling::ScalableTarget")["MinCapacity"] == 0


def test_instances_come_and_go_with_the_tasks_that_need_them(resources):
    provider = _only(resources, "AWS::ECS::CapacityProvider")["AutoScalingGroupProvider"]

    assert provider["ManagedScaling"]["Status"] == "ENABLED"
    assert provider["ManagedTerminationProtection"] == "ENABLED"
    assert provider["ManagedDraining"] == "ENABLED"


def test_tasks_follow_messages_waiting_or_under_way(resources):
    policies = [p for _s, _n, p in resources("AWS::ApplicationAutoScaling::ScalingPolicy")]

    steps = [p["StepScalingPolicyConfiguration"] for p in policies]
    assert {each["AdjustmentType"] for each in steps} == {"ExactCapacity"}
    counts = [a["ScalingAdjustment"] for each in steps for a in each["StepAdjustments"]]
    assert sorted(counts) == [0, 1, 2]
    alarms = [a for stack, _n, a in resources("AWS::CloudWatch::Alarm") if stack == "Fleet"]
    for alarm in alarms:
        assert "ApproximateNumberOfMessagesVisible" in json.dumps(alarm)
        assert "ApproximateNumberOfMessagesNotVisible" in json.dumps(alarm)


def test_no_route_leads_to_the_internet(resources):
    for kind in ("InternetGateway", "NatGateway", "Route", "EIP"):
        assert resources(f"AWS::EC2::{kind}") == []
    services = json.dumps([e for _s, _n, e in resources("AWS::EC2::VPCEndpoint")])
    for service in (".s3", ".dynamodb", ".sqs", ".states", ".ecr.dkr", ".logs"):
        assert service in services


def test_a_container_cannot_reach_the_metadata_service(resources):
    data = _only(resources, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]

    assert data["MetadataOptions"] == {"HttpPutResponseHopLimit": 1, "HttpTokens": "required"}
    assert "ECS_AWSVPC_BLOCK_IMDS=true" in json.dumps(data["UserData"])


def test_the_worker_gets_the_device_and_the_image_of_the_accounts_repository(resources):
    task = _only(resources, "AWS::ECS::TaskDefinition")

    (container,) = task["ContainerDefinitions"]
    assert task["RequiresCompatibilities"] == ["EC2"]
    assert container["LinuxParameters"]["Devices"] == [
        {"HostPath": "/dev/neuron0", "Permissions": ["read", "write"]}
    ]
    assert "/nkiport-trn-worker:latest" in json.dumps(container["Image"])
    assert "Privileged" not in container


def test_two_workers_never_share_an_instance(resources):
    (container,) = _only(resources, "AWS::ECS::TaskDefinition")["ContainerDefinitions"]
    instance = _only(resources, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["InstanceType"]

    memory_of_trn1_2xlarge_mib = 32 * 1024
    assert instance == "trn1.2xlarge"
    assert container["MemoryReservation"] * 2 > memory_of_trn1_2xlarge_mib
