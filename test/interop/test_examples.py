"""The Python examples, without a broker: what the producer frames can be read, and the consumer accepts what the vectors say."""

import importlib.util
import json
import pathlib
import types

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

import reference_reader as reader

ROOT = pathlib.Path(__file__).resolve().parents[2]


def example(folder, name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


producer = example("python-producer", "producer")
consumer = example("python-consumer", "consumer")


def released(message):
    return json.loads((ROOT / "schemas" / "history" / message / "1.avsc").read_text(encoding="utf-8"))


INVALIDATED = {
    "event_id": "e-1", "tenant": "acme", "ref": "order/4711#not_shipped", "source": "warehouse", "source_kind": "observation",
    "stated_at": 1_700_000_000_000, "statement": {"json": {"order": "4711", "shipped": True}},
}


def test_the_producer_frames_a_record_that_every_reader_can_read():
    schema = released("recourse.assumptions.AssumptionInvalidated")
    value = producer.framed(9, schema, producer.from_json(INVALIDATED, schema, producer.names_in(schema)))
    body = reader.decode(schema, value)
    assert reader.schema_id_of(value) == 9
    assert (body["ref"], body["run_id"], body["statement"]["encoding"]) == ("order/4711#not_shipped", None, "plain")
    assert json.loads(body["statement"]["body"]) == {"order": "4711", "shipped": True}


def test_the_producer_knows_only_topics_and_keys_of_the_catalogue():
    topics = {topic["name"]: topic for topic in json.loads((ROOT / "schemas" / "topics.json").read_text(encoding="utf-8"))["topics"]}
    for topic, full_name, key in producer.RECORDS.values():
        assert full_name in topics[topic]["records"]
        assert key in [field["name"] for field in released(full_name)["fields"]]


def test_the_producer_refuses_a_field_the_record_has_not():
    schema = released("recourse.assumptions.AssumptionInvalidated")
    with pytest.raises(ValueError, match="has no field subject"):
        producer.from_json({**INVALIDATED, "subject": "x"}, schema, producer.names_in(schema))


EXECUTED = next(frame for frame in json.loads((ROOT / "schemas" / "vectors" / "frames.json").read_text(encoding="utf-8"))["vectors"] if (frame["message"], frame["variant"]) == ("recourse.executions.ToolExecuted", "full"))


def executed_in_json(**edit):
    """A ToolExecuted as somebody writes it."""
    fields = [field["name"] for field in released("recourse.executions.ToolExecuted")["fields"]]
    return {**{name: EXECUTED["body"][name] for name in fields}, "args": {"json": {}}, "result": None, **edit}


def executed(**edit):
    """The same, made what is sent."""
    schema = released("recourse.executions.ToolExecuted")
    return producer.from_json(executed_in_json(**edit), schema, producer.names_in(schema))


def test_the_producer_takes_what_has_the_type_of_its_field():
    body = executed(assumption_refs=["order/1#x"], committed_at=8_640_000_000_000_000, outcome="failed", external_transaction_ref=None)
    assert (body["assumption_refs"], body["committed_at"], body["outcome"], body["external_transaction_ref"]) == (["order/1#x"], 8_640_000_000_000_000, "failed", None)


WRONG = [
    ({"assumption_refs": "order/1#x"}, "assumption_refs must be a list"),
    ({"assumption_refs": {"order/1#x": True}}, "assumption_refs must be a list"),
    ({"assumption_refs": ["order/1#x", 7]}, r"assumption_refs\[1\] must be a string"),
    ({"committed_at": "1767225600000"}, r"committed_at must be a whole number \(long\)"),
    ({"committed_at": 1767225600000.5}, "committed_at must be a whole number"),
    ({"committed_at": True}, "committed_at must be a whole number"),
    ({"committed_at": 2**63}, "committed_at must be a whole number"),
    ({"committed_at": None}, "committed_at must be a whole number"),
    ({"outcome": "done"}, "outcome must be one of succeeded, failed"),
    ({"idempotency_key": 5}, "idempotency_key must be a string"),
    ({"args": "x"}, "args must be an object"),
    ({"args": {"content_type": "text/plain", "encoding": "plain", "key_id": None, "body": "x", "sha256": "ab"}}, "args.sha256 must be 32 octets in hex"),
    ({"args": {"encoding": "plain"}}, "args lacks content_type, body, sha256"),
    ({"run_id": "run-\ud83d"}, "run_id must be well-formed Unicode"),
    ({"assumption_refs": ["a#b", "\udc00a#b"]}, r"assumption_refs\[1\] must be well-formed Unicode"),
    ({"args": {"json": {"names": [{"first": "a\ud800b"}]}}}, "args must be well-formed Unicode"),
    ({"args": {"json": {"\ud800": 1}}}, "args must be well-formed Unicode"),
]


@pytest.mark.parametrize("edit,problem", [*WRONG, ({"args": {"json": float("nan")}}, "not JSON compliant")], ids=str)
def test_the_producer_refuses_what_has_another_type_than_its_field(edit, problem):
    with pytest.raises(ValueError, match=problem):
        executed(**edit)


SIGNED = [vector for vector in json.loads((ROOT / "schemas" / "vectors" / "signatures.json").read_text(encoding="utf-8"))["vectors"] if vector["partition"] is None and len(vector["header"].split(" ")) == 5]


@pytest.mark.parametrize("vector", SIGNED, ids=lambda vector: vector["header"].split(" ")[1])
@pytest.mark.parametrize("module", [producer, consumer], ids=lambda module: module.__name__)
def test_the_examples_sign_what_they_send(vector, module, tmp_path, monkeypatch):
    private_key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(vector["private_key"]))
    (tmp_path / "key.pem").write_bytes(pem_of(private_key))
    _, key_id, signed_at, *_ = vector["header"].split(" ")
    monkeypatch.setattr(module, "time", types.SimpleNamespace(time=lambda: int(signed_at) / 1000))
    (record,) = vector["records"]
    header = module.signature(module.signing_key(tmp_path / "key.pem"), key_id, vector["topic"], record["key"].encode(), bytes.fromhex(record["value"]))
    assert header == ("recourse-signature", vector["header"].encode())


def pem_of(private_key, encryption=NoEncryption()):
    return private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


KEYS = {
    "is missing": (None, "No such file"),
    "is none": (b"nonsense", "is no private key in PEM without a passphrase"),
    "is encrypted": (pem_of(Ed25519PrivateKey.generate(), BestAvailableEncryption(b"secret")), "is no private key in PEM without a passphrase"),
    "is another's": (pem_of(ec.generate_private_key(ec.SECP256R1())), "is no Ed25519 key"),
}


@pytest.mark.parametrize("pem,problem", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("module", [producer, consumer], ids=lambda module: module.__name__)
def test_the_examples_say_what_is_wrong_with_a_key(module, tmp_path, pem, problem):
    if pem is not None:
        (tmp_path / "key.pem").write_bytes(pem)
    with pytest.raises((OSError, ValueError), match=problem):
        module.signing_key(tmp_path / "key.pem")


@pytest.mark.parametrize("module", [producer, consumer], ids=lambda module: module.__name__)
def test_the_examples_speak_to_brokers_as_a_file_says(module, tmp_path):
    file = tmp_path / "kafka.properties"
    file.write_text("# who I am\nsasl.username = agent\n\nsasl.password=a=b\nbootstrap.servers=elsewhere:1\n", encoding="utf-8")
    assert module.kafka_settings("here:9092", file) == {"sasl.username": "agent", "sasl.password": "a=b", "bootstrap.servers": "here:9092"}


class NoteSchemas:
    """Stands for the registry: the schema of the acceptance vectors."""

    def __init__(self, schema, fingerprints):
        self.schema, self.fingerprints = schema, fingerprints

    def get(self, schema_id):
        return self.schema, bytes.fromhex(self.fingerprints[str(schema_id)])


def cases():
    undecodable = {"bytes after the head are not looked at"}
    vectors = json.loads((ROOT / "schemas" / "vectors" / "acceptance.json").read_text(encoding="utf-8"))["vectors"]
    return [vector for vector in vectors if vector["name"] not in undecodable]


@pytest.mark.parametrize("vector", cases(), ids=lambda vector: vector["name"])
def test_the_consumer_accepts_what_the_vectors_say(vector):
    forms = json.loads((ROOT / "schemas" / "vectors" / "canonical-forms.json").read_text(encoding="utf-8"))["vectors"]
    genesis = vector["genesis"]
    chain = consumer.Partition(genesis["log_id"], genesis["topic"], genesis["partition"], genesis["partition_count"])
    schemas = NoteSchemas(forms[0]["schema"], vector["fingerprints"])
    verdicts = []
    for record in vector["records"]:
        key, value = record["key"], record["value"]
        try:
            accepted = chain.accept(len(verdicts), None if key is None else key.encode(), None if value is None else bytes.fromhex(value), schemas)
        except KeyError:
            verdicts.append("unknown_schema")
            break
        verdicts.append("void" if accepted is None else "accepted")
    assert verdicts == vector["verdicts"]
    is_all_void = verdicts != [] and "accepted" not in verdicts
    assert ("records are void" in (chain.all_void() or "")) == is_all_void
    assert {"seq": chain.seq, "hash": chain.hash.hex()} == vector["head"]


COMMIT = {"tenant": "acme", "agent_id": "agent-1", "run_id": "run-1", "mutation_id": "m-1", "subject_ref": "order/4711"}


@pytest.mark.parametrize("scope,covers", [("*", True), ("acme", True), ("acme/agent-1", True), ("acme/*/run-1", True), ("acme/*/*/order", True), ("acme/*/*/order/4711", True), ("acme/agent", False), ("globex", False), ("acme/*/*/order/4711/x", False)])
def test_the_consumer_knows_its_scope(scope, covers):
    assert consumer.in_scope(scope, COMMIT) is covers


def notice(*members):
    """A notice of several commits, in which the consumers that are waited for are named by commit."""
    named = [{"mutation_id": name, "rollback_id": f"rb-{name}", "agent_id": agent, "subject_ref": subject, "consumers": consumers} for name, agent, subject, consumers in members]
    return {"seq": 7, "tenant": "acme", "run_id": "run-1", "members": named}


def test_the_consumer_hears_of_several_commits_those_in_its_scope_and_answers_each():
    told = notice(("m-3", "agent-1", "order/3", ["mailer"]), ("m-2", "agent-9", None, ["mailer"]), ("m-1", "agent-1", None, []), ("m-0", "agent-1", None, ["mailer"]))
    heard = consumer.within("acme/agent-1", told)
    assert [member["mutation_id"] for member in heard["members"]] == ["m-3", "m-1", "m-0"]
    assert [(ack["mutation_id"], ack["rollback_id"], ack["run_id"], ack["tenant"]) for ack in consumer.acknowledgements("mailer", heard, 7)] == [
        ("m-3", "rb-m-3", "run-1", "acme"), ("m-0", "rb-m-0", "run-1", "acme"),
    ]
    assert consumer.within("globex", told) is None
    assert consumer.within("acme/agent-1", COMMIT) == COMMIT


def test_the_consumer_hears_how_the_rollbacks_in_its_scope_ended():
    announced = consumer.within("acme/agent-1", notice(("m-3", "agent-1", "order/3", []), ("m-2", "agent-9", None, [])))
    told = {consumer.commit_of({**announced, **member}) for member in announced["members"]}
    settled = {"seq": 8, "tenant": "acme", "run_id": "run-1", "members": [{"mutation_id": name, "rollback_id": f"rb-{name}", "recoverability": "compensated"} for name in ("m-3", "m-2")]}
    assert [member["mutation_id"] for member in consumer.within("acme/agent-1", settled, told)["members"]] == ["m-3"]
    assert consumer.within("acme/agent-7", settled, set()) is None


def test_the_consumer_refuses_a_record_that_names_nobody():
    with pytest.raises(ValueError, match="names nobody"):
        consumer.within("*", notice())


def test_the_consumer_answers_in_avro_that_every_reader_can_read():
    schema = released("recourse.consumers.RollbackAcknowledged")
    body = consumer.acknowledgement("mailer", {**COMMIT, "rollback_id": "rb-1"}, 7)
    assert body == consumer.acknowledgement("mailer", {**COMMIT, "rollback_id": "rb-1"}, 7)
    read = reader.decode(schema, consumer.framed(9, consumer.fastavro.parse_schema(schema), body))
    assert (read["consumer"], read["tenant"], read["run_id"], read["mutation_id"], read["rollback_id"], read["derived"], read["emissions"]) == ("mailer", "acme", "run-1", "m-1", "rb-1", [], [])
