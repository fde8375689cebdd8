"""Clients of Kafka that are not ours, each with the codecs and the partitioner it comes with: what they send is taken.

confluent-kafka and kafka-python come from PyPI; franz-go and kafka-go are built from ./clients where Go is installed.
"""

import hashlib
import json
import subprocess
import urllib.parse
import uuid

import pytest
from confluent_kafka import Producer
from kafka import KafkaProducer

import reference_reader as reader
from test_story import BROKERS, CLIENTS, OPERATOR, STACK, TENANT, ask, at, pytestmark, until  # noqa: F401

TOPIC, MESSAGE = "recourse.assumption-events", "recourse.assumptions.AssumptionDeclared"
CODECS = ["gzip", "snappy", "lz4", "zstd"]
needs_go = pytest.mark.skipif(CLIENTS is None, reason="Go is not installed")


def confluent(key, value, codec=None, **more):
    options = {} if codec is None else {"compression.type": codec}
    producer = Producer({"bootstrap.servers": BROKERS, **options, **more})
    producer.produce(TOPIC, key=key, value=value)
    assert producer.flush(30) == 0


def python(key, value, codec=None):
    producer = KafkaProducer(bootstrap_servers=BROKERS.split(","), compression_type=codec)
    producer.send(TOPIC, key=key, value=value).get(timeout=30)
    producer.close()


def transactional(key, value, commits):
    producer = Producer({"bootstrap.servers": BROKERS, "transactional.id": f"interop-{uuid.uuid4().hex[:8]}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(TOPIC, key=key, value=value)
    producer.commit_transaction(30) if commits else producer.abort_transaction(30)


def go(client, *flags):
    def send(key, value):
        command = [*CLIENTS, "-client", client, "-brokers", BROKERS, "-topic", TOPIC, "-key", key.decode(), *flags]
        done = subprocess.run(command, input=value, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr.decode()

    return send


def declared(ref):
    """A statement as its key and its value."""
    _, registered = ask(f"{STACK['registryUrl']}/subjects/{urllib.parse.quote(f'{TOPIC}-{MESSAGE}', safe='')}/versions/latest")
    payload = {"content_type": "application/json", "encoding": "plain", "key_id": None, "body": b"{}", "sha256": hashlib.sha256(b"{}").digest()}
    body = {"event_id": str(uuid.uuid4()), "tenant": TENANT, "ref": ref, "run_id": None, "source": "interop", "stated_at": 1, "statement": payload}
    return ref.encode(), reader.encode(json.loads(registered["schema"]), registered["id"], body)


def stated(ref):
    return at("ledger", f"/v1/assumptions?ref={urllib.parse.quote(ref, safe='')}", person=OPERATOR)[1]["items"]


def is_taken(send, count=1):
    """Several, with keys of all partitions: a partitioner that is right by chance is none."""
    refs = [f"order/{uuid.uuid4().hex[:8]}#not_shipped" for _ in range(count)]
    for ref in refs:
        send(*declared(ref))
    for ref in refs:
        assert [one["ref"] for one in until("the statement", lambda ref=ref: stated(ref))] == [ref]


SOME = 6


@pytest.mark.parametrize("codec", [None, *CODECS])
def test_confluent_kafka(codec):
    is_taken(lambda key, value: confluent(key, value, codec), SOME)


@pytest.mark.parametrize("codec", [None, *CODECS])
def test_kafka_python(codec):
    is_taken(lambda key, value: python(key, value, codec), SOME)


@needs_go
@pytest.mark.parametrize("flags", [[], *[["-codec", codec] for codec in CODECS]], ids=lambda flags: flags[-1] if flags else "default")
def test_franz_go(flags):
    is_taken(go("franz-go", *flags), SOME)


@needs_go
@pytest.mark.parametrize("flags", [[], ["-murmur2"], *[["-murmur2", "-codec", codec] for codec in CODECS]], ids=lambda flags: flags[-1].strip("-") if flags else "default")
def test_kafka_go(flags):
    is_taken(go("kafka-go", *flags), SOME)


def test_a_transactional_producer_is_taken_once_it_commits_and_never_when_it_aborts():
    aborted = f"order/{uuid.uuid4().hex[:8]}#aborted"
    transactional(*declared(aborted), commits=False)
    is_taken(lambda key, value: transactional(key, value, commits=True), SOME)
    assert stated(aborted) == []
    assert at("ledger", "/health/ready")[0] == 200
