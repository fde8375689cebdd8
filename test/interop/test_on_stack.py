"""The Python examples as processes, on a real broker and registry. `npm run test:interop` starts them and says where."""

import base64
import http.client
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import uuid

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import reference_reader as reader
import signatures

ROOT = pathlib.Path(__file__).resolve().parents[2]
STACK = json.loads(os.environ.get("RECOURSE_TEST_STACK") or "null")
BROKERS = ",".join(STACK["kafka"]["brokers"]) if STACK else ""
PARTITIONS = 3
TIMEOUT_S = 60

pytestmark = pytest.mark.skipif(STACK is None, reason="no stack is named in RECOURSE_TEST_STACK")


def released(message):
    return json.loads((ROOT / "schemas" / "history" / message / "1.avsc").read_text(encoding="utf-8"))


def register(subject, schema):
    url = f"{STACK['registryUrl']}/subjects/{urllib.parse.quote(subject, safe='')}/versions"
    request = urllib.request.Request(url, data=json.dumps({"schemaType": "AVRO", "schema": json.dumps(schema)}).encode(), headers={"content-type": "application/json"})
    # A registry that is busy may close a connection before it answers; registering the same again gives the same id.
    for is_last in (False, False, True):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return json.load(answer)["id"]
        except http.client.RemoteDisconnected:
            if is_last:
                raise
            time.sleep(1)


def ensure_topic(name):
    admin = AdminClient({"bootstrap.servers": BROKERS})
    problem = admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].exception(TIMEOUT_S)
    assert problem is None or "already exists" in str(problem)


def ensure_topic_anew(admin, name):
    """A topic that was deleted lingers on for a moment."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        problem = admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].exception(TIMEOUT_S)
        if problem is None:
            return
        assert time.monotonic() < deadline, problem
        time.sleep(0.2)


def run(folder, name, *arguments):
    script = ROOT / "examples" / folder / f"{name}.py"
    return subprocess.run([sys.executable, str(script), "--brokers", BROKERS, "--registry", STACK["registryUrl"], *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def message_at(topic, partition, offset):
    consumer = Consumer({"bootstrap.servers": BROKERS, "group.id": "interop", "enable.auto.commit": False, "isolation.level": "read_uncommitted"})
    try:
        consumer.assign([TopicPartition(topic, partition, offset)])
        message = consumer.poll(TIMEOUT_S)
        assert message is not None and message.error() is None
        return message
    finally:
        consumer.close()


def record_at(topic, partition, offset):
    message = message_at(topic, partition, offset)
    return message.key(), message.value()


def partition_count(topic):
    return len(AdminClient({"bootstrap.servers": BROKERS}).list_topics(topic, timeout=TIMEOUT_S).topics[topic].partitions)


@pytest.mark.parametrize("key", ["order/4711#not_shipped", "käse/1#frisch", "注文/4711#出荷前"])
def test_a_published_record_lies_on_its_partition_and_can_be_read(key):
    topic, message = "recourse.assumption-events", "recourse.assumptions.AssumptionInvalidated"
    ensure_topic(topic)
    schema = released(message)
    schema_id = register(f"{topic}-{message}", schema)
    body = {"event_id": str(uuid.uuid4()), "tenant": "interop", "ref": key, "source": "interop", "source_kind": "observation", "stated_at": 1, "statement": {"json": {}}}
    done = run("python-producer", "producer", "AssumptionInvalidated", json.dumps(body))
    assert done.returncode == 0, done.stderr
    sent = json.loads(done.stdout)
    assert sent["schema_id"] == schema_id
    assert sent["partition"] == reader.partition_for_key(key.encode(), partition_count(topic))
    stored_key, value = record_at(topic, sent["partition"], sent["offset"])
    assert stored_key == key.encode()
    assert reader.decode(schema, value)["event_id"] == body["event_id"]


def test_a_record_without_a_schema_in_the_registry_is_refused():
    done = run("python-producer", "producer", "AssumptionInvalidated", json.dumps({"ref": "a", "nonsense": 1}))
    assert done.returncode == 1
    assert done.stdout == ""


def chain_of(topic, schema, schema_id, partition, count):
    """Three notices of one run that follow from the genesis of a partition."""
    head, values = reader.Head(0, reader.genesis_hash("interop", topic, partition, PARTITIONS)), []
    for n in range(count):
        body = {"seq": head.seq + 1, "prev_hash": head.hash, "source_seq": n, "source_index": 0, "tenant": "acme", "run_id": "run-1", "members": [{"mutation_id": f"m-{n}", "rollback_id": "r", "recoverability": "compensated"}]}
        values.append(reader.encode(schema, schema_id, body))
        head = reader.Head(head.seq + 1, reader.leaf_hash(reader.schema_fingerprint(schema), b"run-1", values[-1][5:]))
    return values


def test_the_consumer_prints_accepted_records_and_skips_void_ones():
    topic, message = f"interop.notifications-{uuid.uuid4().hex[:8]}", "recourse.notifications.RollbackSettled"
    ensure_topic(topic)
    schema = released(message)
    schema_id = register(f"{topic}-{message}", schema)
    first, second, third = chain_of(topic, schema, schema_id, 1, 3)
    producer = Producer({"bootstrap.servers": BROKERS, "acks": "all"})
    for value in (first, first, third, second, b"noise", first, third):
        producer.produce(topic, key=b"run-1", value=value, partition=1)
    assert producer.flush(TIMEOUT_S) == 0
    done = run("python-consumer", "consumer", "--log-id", "interop", "--topic", topic)
    assert done.returncode == 0, done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["type"], line["offset"], line["seq"], line["body"]["members"][0]["mutation_id"]) for line in printed] == [
        ("RollbackSettled", 0, 1, "m-0"), ("RollbackSettled", 3, 2, "m-1"), ("RollbackSettled", 6, 3, "m-2"),
    ]


def test_the_consumer_reads_a_log_to_its_end_where_a_transaction_ended_it():
    topic, message = f"interop.notifications-{uuid.uuid4().hex[:8]}", "recourse.notifications.RollbackSettled"
    ensure_topic(topic)
    schema = released(message)
    (value,) = chain_of(topic, schema, register(f"{topic}-{message}", schema), 1, 1)
    producer = Producer({"bootstrap.servers": BROKERS, "transactional.id": topic})
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    producer.produce(topic, key=b"run-1", value=value, partition=1)
    producer.commit_transaction(TIMEOUT_S)
    done = run("python-consumer", "consumer", "--log-id", "interop", "--topic", topic)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["seq"] for line in done.stdout.splitlines()] == [1]


def test_the_consumer_stops_where_a_log_was_restored_from_an_older_copy(tmp_path):
    topic, message = f"interop.notifications-{uuid.uuid4().hex[:8]}", "recourse.notifications.RollbackSettled"
    ensure_topic(topic)
    schema = released(message)
    values = chain_of(topic, schema, register(f"{topic}-{message}", schema), 1, 3)
    arguments = ("--log-id", "interop", "--topic", topic, "--state", str(tmp_path / "state.json"))
    producer = Producer({"bootstrap.servers": BROKERS, "acks": "all"})
    for value in values:
        producer.produce(topic, key=b"run-1", value=value, partition=1)
    assert producer.flush(TIMEOUT_S) == 0
    assert run("python-consumer", "consumer", *arguments).returncode == 0
    admin = AdminClient({"bootstrap.servers": BROKERS})
    admin.delete_topics([topic])[topic].result(TIMEOUT_S)
    ensure_topic_anew(admin, topic)
    producer = Producer({"bootstrap.servers": BROKERS, "acks": "all"})
    producer.produce(topic, key=b"run-1", value=values[0], partition=1)
    assert producer.flush(TIMEOUT_S) == 0
    done = run("python-consumer", "consumer", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert "LOG_CUT: record 3 of partition 1" in done.stderr


PRODUCERS = {"python": [sys.executable, str(ROOT / "examples" / "python-producer" / "producer.py")], "java": json.loads(os.environ.get("RECOURSE_TEST_JAVA") or "null")}


@pytest.mark.parametrize("language", PRODUCERS)
def test_what_the_producers_send_is_signed_where_they_have_a_key(language, tmp_path):
    topic, message = "recourse.assumption-events", "recourse.assumptions.AssumptionInvalidated"
    ensure_topic(topic)
    register(f"{topic}-{message}", released(message))
    key = Ed25519PrivateKey.generate()
    (tmp_path / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "kafka.properties").write_text("client.id=interop\n", encoding="utf-8")
    body = {"event_id": str(uuid.uuid4()), "tenant": "interop", "ref": "käse/1", "source": "interop", "source_kind": "observation", "stated_at": 1, "statement": {"json": {}}}
    signing = ("--signing-key", str(tmp_path / "key.pem"), "--key-id", "interop-1", "--kafka-config", str(tmp_path / "kafka.properties"))
    command = [*PRODUCERS[language], "--brokers", BROKERS, "--registry", STACK["registryUrl"], *signing, "AssumptionInvalidated", json.dumps(body)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    sent = json.loads(done.stdout)
    record = message_at(topic, sent["partition"], sent["offset"])
    header = dict(record.headers())["recourse-signature"].decode()
    assert header.split(" ")[:2] == ["v1", "interop-1"]
    text = signatures.signed_text(topic, [(record.key(), record.value())], header)
    assert signatures.is_signed_by(base64.b64encode(key.public_key().public_bytes_raw()), text, header)


def test_the_consumer_stops_at_an_unknown_schema():
    topic, message = f"interop.notifications-{uuid.uuid4().hex[:8]}", "recourse.notifications.RollbackSettled"
    ensure_topic(topic)
    (value,) = chain_of(topic, released(message), 2_000_000_000, 0, 1)
    producer = Producer({"bootstrap.servers": BROKERS, "acks": "all"})
    producer.produce(topic, key=b"run-1", value=value, partition=0)
    assert producer.flush(TIMEOUT_S) == 0
    done = run("python-consumer", "consumer", "--log-id", "interop", "--topic", topic)
    assert (done.returncode, done.stdout) == (1, "")
    assert "unknown schema" in done.stderr


def test_the_consumer_that_voids_everything_says_so():
    topic, message = f"interop.notifications-{uuid.uuid4().hex[:8]}", "recourse.notifications.RollbackSettled"
    ensure_topic(topic)
    schema = released(message)
    values = chain_of(topic, schema, register(f"{topic}-{message}", schema), 1, 3)
    producer = Producer({"bootstrap.servers": BROKERS, "acks": "all"})
    for value in values:
        producer.produce(topic, key=b"run-1", value=value, partition=1)
    assert producer.flush(TIMEOUT_S) == 0
    done = run("python-consumer", "consumer", "--log-id", "another", "--topic", topic)
    assert (done.returncode, done.stdout) == (1, "")
    assert "all 3 records are void: check --log-id" in done.stderr


def announced(topic, partition, consumer):
    """Three commits with their rollbacks, as the ledger announces those that fell together; the second is of another subject."""
    head = reader.Head(0, reader.genesis_hash("interop", topic, partition, PARTITIONS))
    evidence = {"kind": "observation", "event_id": "e", "ref": "r", "source": "s", "statement": None, "stated_at": 1, "partition": 0, "position": 1, "root": None}
    members = [
        {
            "mutation_id": name, "rollback_id": f"rb-{name}", "root": None, "agent_id": "agent-1", "subject_ref": subject, "capability": "c", "assumption_refs": [],
            "committed_at": 1, "derived_from": [], "has_effect": True, "resume_checkpoint": None, "consumers": [consumer],
        }
        for name, subject in (("m-3", "order/4711"), ("m-2", "invoice/1"), ("m-1", "order/4712"))
    ]
    body = {"seq": 1, "prev_hash": head.hash, "source_seq": 1, "source_index": 0, "tenant": "acme", "run_id": "run-1", "caused_by": evidence, "members": members}
    message = "recourse.notifications.RollbackAnnounced"
    schema = newest(message)
    return [reader.encode(schema, register(f"{topic}-{message}", schema), body)]


def newest(message):
    versions = sorted((ROOT / "schemas" / "history" / message).glob("*.avsc"), key=lambda path: int(path.stem))
    return json.loads(versions[-1].read_text(encoding="utf-8"))


def test_the_consumer_acknowledges_once_and_goes_on_where_it_was(tmp_path):
    topic, name = f"interop.notifications-{uuid.uuid4().hex[:8]}", f"py-{uuid.uuid4().hex[:8]}"
    acks, message = "recourse.consumer-acks", "recourse.consumers.RollbackAcknowledged"
    ensure_topic(topic)
    ensure_topic(acks)
    schema = newest(message)
    register(f"{acks}-{message}", schema)
    producer = Producer({"bootstrap.servers": BROKERS, "acks": "all"})
    for value in announced(topic, 1, name):
        producer.produce(topic, key=b"run-1", value=value, partition=1)
    assert producer.flush(TIMEOUT_S) == 0
    partition = reader.partition_for_key(b"run-1", partition_count(acks))
    before = Consumer({"bootstrap.servers": BROKERS, "group.id": "interop-acks"})
    _, end = before.get_watermark_offsets(TopicPartition(acks, partition), timeout=TIMEOUT_S)
    before.close()
    arguments = ("--log-id", "interop", "--topic", topic, "--consumer", name, "--scope", "acme/*/*/order", "--state", str(tmp_path / "state.json"))
    done = run("python-consumer", "consumer", *arguments)
    assert done.returncode == 0, done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["type"], [member["mutation_id"] for member in line["body"]["members"]]) for line in printed] == [("RollbackAnnounced", ["m-3", "m-1"])]
    for index, mutation in enumerate(["m-3", "m-1"]):
        key, value = record_at(acks, partition, end + index)
        body = reader.decode(schema, value)
        assert (key, body["consumer"], body["mutation_id"], body["rollback_id"], body["tenant"]) == (b"run-1", name, mutation, f"rb-{mutation}", "acme")
    again = run("python-consumer", "consumer", *arguments)
    assert (again.returncode, again.stdout) == (0, "")
