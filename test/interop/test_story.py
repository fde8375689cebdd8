"""The drifted refund told by Python alone, and by Java: no code of ours publishes, approves or looks.

`npm run test:interop` starts the services and the example's provider and worker, and says where they are. The refund is made at
the provider over HTTP, told with examples/python-producer or examples/java-producer, contradicted the same way, approved over HTTP, and observed.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

import reference_reader as reader

ROOT = pathlib.Path(__file__).resolve().parents[2]
STACK = json.loads(os.environ.get("RECOURSE_TEST_STACK") or "null")
SYSTEM = json.loads(os.environ.get("RECOURSE_TEST_SYSTEM") or "null")
BROKERS = ",".join(STACK["kafka"]["brokers"]) if STACK else ""
TENANT = "demo"
CLIENTS = json.loads(os.environ.get("RECOURSE_TEST_CLIENTS") or "null")
CAPABILITIES = ("payments.get_refund", "payments.reverse_refund", "payments.issue_refund")
PATIENCE_S = 90

pytestmark = pytest.mark.skipif(STACK is None or SYSTEM is None, reason="no running system is named in RECOURSE_TEST_SYSTEM")


def ask(url, body=None, headers=None):
    """Status and JSON of an answer, refusals included."""
    data = None if body is None else json.dumps(body).encode("utf-8")
    request = urllib.request.Request(url, data=data, headers={"content-type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def at(side, path, body=None, person=None, key=None):
    headers = {}
    if person is not None:
        subject, *roles = person
        tenant = "*" if "administrator" in roles else TENANT
        _, token = ask(f"{SYSTEM['urls']['issuer']}/token", {"subject": subject, "tenant": tenant, "roles": roles})
        headers["authorization"] = f"Bearer {token['access_token']}"
    if key is not None:
        headers["idempotency-key"] = key
    return ask(f"{SYSTEM['urls'][side]}{path}", body, headers)


EDITOR = ("ravi", "contract_editor")
OPERATOR = ("mira", "approver", "operator")
INITIATOR = ("asha", "approver")
ADMINISTRATOR = ("root", "administrator")


def until(what, look, seen=lambda: ""):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"{what} did not come within {PATIENCE_S} s {seen()}")


PRODUCERS = {
    "python": [sys.executable, str(ROOT / "examples" / "python-producer" / "producer.py")],
    "java": json.loads(os.environ.get("RECOURSE_TEST_JAVA") or "null"),
}


def publish(record, body, producer="python"):
    """An example's producer as a process of its own."""
    command = [*PRODUCERS[producer], "--brokers", BROKERS, "--registry", STACK["registryUrl"], record, json.dumps(body)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def contracts():
    """Digest of each contract of the example, registered over HTTP."""
    digests = {}
    for name in CAPABILITIES:
        contract = json.loads((ROOT / "examples" / "contracts" / f"{name}.json").read_text(encoding="utf-8"))
        status, answer = at("registry", "/v1/contracts", contract, EDITOR, f"python-{name}")
        assert status in (200, 201, 409), answer
        status, registered = at("registry", f"/v1/contracts/{name}", person=EDITOR)
        assert status == 200
        digests[name] = registered["digest"]
    return digests


def execution(run, contracts, order, refund):
    args = {"amount_minor": 120_000, "currency": "INR", "order": order}
    effect = "eff_" + hashlib.sha256(f"{run}/refund".encode()).hexdigest()
    return {
        "event_id": f"evt-{run}", "tenant": TENANT, "run_id": run, "agent_id": "python-agent", "initiator": INITIATOR[0], "objective": "give the money back",
        "step_id": "refund", "call_id": f"call-{run}", "capability": "payments.issue_refund", "contract_digest": contracts["payments.issue_refund"],
        "effect_key": effect, "idempotency_key": f"key-{run}", "subject_ref": f"order/{order}", "args": {"json": args},
        "assumption_refs": [f"order/{order}#not_shipped"], "outcome": "succeeded", "result": {"json": refund},
        "external_transaction_ref": refund["refund_id"], "committed_at": int(time.time() * 1000),
    }


def mutation_of(run):
    status, answer = at("ledger", f"/v1/mutations?run_id={run}", person=OPERATOR)
    return answer["items"][0] if status == 200 and answer["items"] else None


@pytest.mark.parametrize("producer", PRODUCERS)
def test_the_drifted_refund_is_compensated(contracts, producer):
    order = f"{producer}-{uuid.uuid4().hex[:8]}"
    run = f"run-{order}"
    status, refund = ask(f"{SYSTEM['urls']['provider']}/refunds", {"order": order, "amount_minor": 120_000, "currency": "INR"}, {"idempotency-key": f"key-{run}"})
    assert status in (200, 201), refund
    publish("ToolExecuted", execution(run, contracts, order, refund), producer)
    mutation = until("the mutation", lambda: mutation_of(run))
    assert mutation["recoverability"] == "reversal_available"

    publish("AssumptionInvalidated", {
        "event_id": f"shipped-{order}", "tenant": TENANT, "ref": f"order/{order}#not_shipped", "source": "warehouse", "source_kind": "observation",
        "stated_at": int(time.time() * 1000), "statement": {"json": {"order": order, "shipped": True}},
    }, producer)
    step = until("the review item", lambda: next(iter(at("orchestrator", f"/v1/reviews?run_id={run}", person=OPERATOR)[1]["items"]), None))
    assert ask(f"{SYSTEM['urls']['provider']}/refunds/{refund['refund_id']}")[1]["status"] == "settled"

    approval = {"action_digest": step["action_digest"], "reason": "the goods are on their way"}
    status, answer = at("orchestrator", f"/v1/steps/{step['step_id']}/approve", approval, INITIATOR, f"own-{order}")
    assert (status, answer["code"]) == (403, "SELF_APPROVAL")
    status, answer = at("orchestrator", f"/v1/steps/{step['step_id']}/approve", approval, OPERATOR, f"approve-{order}")
    assert status == 200, answer

    standing = lambda: json.dumps([(one["phase"], one["reason"], one["attempt"], one["last"]) for one in at("orchestrator", f"/v1/steps?run_id={run}", person=OPERATOR)[1]["items"]])
    until("the compensation", lambda: mutation_of(run)["recoverability"] == "compensated", standing)
    assert ask(f"{SYSTEM['urls']['provider']}/refunds/{refund['refund_id']}")[1]["status"] == "reversed"
    effects = ask(f"{SYSTEM['urls']['provider']}/effects")[1]
    reversals = [effect for effect in next(value for value in effects.values() if isinstance(value, list)) if effect["kind"] == "reversal" and effect["refund_id"] == refund["refund_id"]]
    assert len(reversals) == 1


def misplaced_run(partitions):
    """A run that librdkafka's default partitioner (CRC32) puts elsewhere than murmur2 does."""
    import zlib
    return next(run for run in (f"run-crc-{uuid.uuid4().hex[:8]}" for _ in range(1_000)) if zlib.crc32(run.encode()) % partitions != reader.partition_for_key(run.encode(), partitions))


def test_what_a_default_librdkafka_producer_sends_elsewhere_is_taken_all_the_same(contracts):
    topic = "recourse.tool-executions"
    partitions = len(AdminClient({"bootstrap.servers": BROKERS}).list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions)
    run = misplaced_run(partitions)
    sys.path.insert(0, str(ROOT / "examples" / "python-producer"))
    import producer as example
    schema_id, schema = example.latest_schema(STACK["registryUrl"], f"{topic}-recourse.executions.ToolExecuted")
    body = execution(run, contracts, "py-crc", {"refund_id": "re-py-crc", "status": "settled"})
    value = example.framed(schema_id, schema, example.from_json(body, schema, example.names_in(schema)))
    careless = Producer({"bootstrap.servers": BROKERS, "acks": "all"})
    careless.produce(topic, key=run.encode(), value=value)
    assert careless.flush(PATIENCE_S) == 0
    assert until("the mutation", lambda: mutation_of(run))["recoverability"] == "reversal_available"
    _, answer = at("ledger", "/v1/parked", person=ADMINISTRATOR)
    assert [item for item in answer["items"] if item["record_key"] == run] == []
