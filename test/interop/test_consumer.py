"""The consumer in Python over a log that a test holds: what it keeps between two starts, and what it makes of a log that was restored."""

import io
import json
import sys
import types

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import reference_reader as reader
from test_examples import KEYS, consumer, pem_of, released

SCHEMA = released("recourse.notifications.RollbackAnnounced")
FINGERPRINT = reader.schema_fingerprint(SCHEMA)
FAR = 8_640_000_000_000_000


class Message:
    def __init__(self, offset, value, problem=None, number=0):
        self.at, self.held, self.problem, self.number = offset, value, problem, number

    def partition(self):
        return self.number

    def offset(self):
        return self.at

    def key(self):
        return b"run-1"

    def value(self):
        return self.held

    def error(self):
        return self.problem


class Reader:
    """Stands for a client: one partition, as values by offset. `until` is behind its last offset, where markers of transactions may lie."""

    def __init__(self, log):
        self.log, self.at, self.is_ended = log, 0, False

    def list_topics(self, topic, timeout):
        return types.SimpleNamespace(topics={topic: types.SimpleNamespace(error=None, partitions={0: None})})

    def get_watermark_offsets(self, _, timeout):
        return 0, self.log["until"]

    def assign(self, places):
        self.at, self.is_ended = places[0].offset, False

    def unassign(self):
        pass

    def consume(self, count, timeout):
        found = [Message(offset, value) for offset, value in sorted(self.log["values"].items()) if offset >= self.at][:count]
        self.at = found[-1].at + 1 if found else max(self.at, self.log["until"])
        if self.at >= self.log["until"] and not self.is_ended:
            self.is_ended = True
            found.append(Message(self.at, None, KafkaError(KafkaError._PARTITION_EOF)))
        elif not found:
            # Who waits for more than there will be waits for ever.
            assert self.log["grows"], "it hears nothing, and listens on"
            self.log["grows"].pop(0)()
        return found

    def poll(self, timeout):
        return self.consume(1, timeout)[0]


class Beside(Reader):
    """With the first record of a second partition, which comes behind what the first one holds."""

    def list_topics(self, topic, timeout):
        return types.SimpleNamespace(topics={topic: types.SimpleNamespace(error=None, partitions={0: None, 1: None})})

    def consume(self, count, timeout):
        (beside,) = values_of(("b", "m-9"), partition=1, count=2)
        return [*super().consume(count, timeout), Message(self.log["until"] - 1, beside, number=1)]


class Acks:
    """Stands for the topic of answers; a broker that refuses takes none of the notice that names a commit."""

    def __init__(self, refused):
        self.sent, self.refused = [], refused

    def send(self, notice, applied_at):
        named = [one["mutation_id"] for one in consumer.acknowledgements("reports", notice, applied_at)]
        if self.refused in named:
            raise RuntimeError("the broker did not take the acknowledgements")
        self.sent += named


def body_of(seq, prev_hash, agent, mutation, stated_at=1):
    evidence = {"kind": "observation", "event_id": "e", "ref": "r", "source": "s", "statement": None, "stated_at": stated_at, "partition": 0, "position": 1, "root": None}
    member = {
        "mutation_id": mutation, "rollback_id": f"rb-{mutation}", "root": None, "agent_id": agent, "subject_ref": None, "capability": "c", "assumption_refs": [],
        "committed_at": 1, "derived_from": [], "has_effect": True, "resume_checkpoint": None, "consumers": ["reports"],
    }
    return {"seq": seq, "prev_hash": prev_hash, "source_seq": seq, "source_index": 0, "tenant": "acme", "run_id": "run-1", "caused_by": evidence, "members": [member]}


def values_of(*commits, stated_at=1, partition=0, count=1):
    """Notices of commits, each (agent, mutation), that follow from the genesis."""
    head, values = reader.Head(0, reader.genesis_hash("log-1", consumer.TOPIC, partition, count)), []
    for agent, mutation in commits:
        values.append(reader.encode(SCHEMA, 7, body_of(head.seq + 1, head.hash, agent, mutation, stated_at)))
        head = reader.Head(head.seq + 1, reader.leaf_hash(FINGERPRINT, b"run-1", values[-1][5:]))
    return values


def log_of(*values, until=None):
    return {"values": dict(enumerate(values)), "until": len(values) if until is None else until, "grows": []}


@pytest.fixture
def hear(tmp_path, capsys, monkeypatch):
    """Starts the consumer over a log: what it printed. That stays in `heard`, what it acknowledged in `answered`, and what it complained of in `said`."""
    registry = json.dumps({"schema": json.dumps(SCHEMA)}).encode()
    monkeypatch.setattr(consumer.urllib.request, "urlopen", lambda url, timeout: io.BytesIO(registry))
    monkeypatch.setattr(consumer, "time", types.SimpleNamespace(monotonic=iter(range(10_000)).__next__, time=lambda: 1.0))

    def start(log, scope="acme", follow=False, refused=None, client=Reader):
        acks = Acks(refused)
        options = types.SimpleNamespace(topic=consumer.TOPIC, log_id="log-1", state=str(tmp_path / "state.json"), consumer="reports", scope=scope, follow=follow)
        try:
            consumer.read(client(log), client(log), options, consumer.Schemas("http://registry"), acks)
        finally:
            out, start.said = capsys.readouterr()
            heard = [member["mutation_id"] for line in out.splitlines() for member in json.loads(line)["body"]["members"]]
            start.heard, start.answered = heard, acks.sent
        assert [one for one in acks.sent if one in heard] == heard
        return heard

    return start


THREE = (("a", "m-1"), ("b", "m-2"), ("a", "m-3"))


def test_a_notice_whose_instant_is_beyond_the_year_9999_is_heard(hear):
    assert hear(log_of(*values_of(("a", "m-1"), stated_at=FAR))) == ["m-1"]


def test_it_goes_on_where_it_was(hear):
    values = values_of(*THREE)
    assert hear(log_of(*values[:2])) == hear.answered == ["m-1", "m-2"]
    assert hear(log_of(*values)) == hear.answered == ["m-3"]
    assert hear(log_of(*values)) == hear.answered == []


def test_a_scope_that_is_widened_begins_anew_and_hears_the_rest(hear):
    log = log_of(*values_of(*THREE))
    assert hear(log, "acme/a") == ["m-1", "m-3"]
    assert hear(log, "acme") == ["m-2"]
    assert hear(log, "acme/a") == []


def test_void_records_around_its_place_change_nothing(hear):
    one, two, three = values_of(*THREE)
    assert hear(log_of(one, one, b"noise", three, two, one)) == ["m-1", "m-2"]
    assert hear(log_of(one, one, b"noise", three, two, one, three)) == ["m-3"]


@pytest.mark.parametrize("restored", [THREE[:1], (), (THREE[0], ("a", "n-2"), ("a", "n-3"), ("a", "n-4"))], ids=["ends before", "is empty", "went on otherwise"])
def test_a_log_that_was_restored_behind_what_was_heard_stops_it(hear, restored):
    hear(log_of(*values_of(*THREE)))
    with pytest.raises(ValueError, match="LOG_CUT: record 3 of partition 0"):
        hear(log_of(*values_of(*restored)))


def test_a_log_that_is_restored_while_it_listens_stops_it(hear):
    log = log_of(*values_of(*THREE))
    other = values_of(THREE[0], *(("a", f"n-{n}") for n in range(2, 6)))
    log["grows"].append(lambda: log.update(log_of(*other)))
    with pytest.raises(ValueError, match="LOG_CUT: record 3 of partition 0"):
        hear(log, follow=True)


def test_once_its_places_are_taken_out_it_hears_what_it_had_not_and_answers_all(hear, tmp_path):
    hear(log_of(*values_of(*THREE)))
    state = json.loads((tmp_path / "state.json").read_text(encoding="utf-8"))
    (tmp_path / "state.json").write_text(json.dumps({"told": state["told"]}), encoding="utf-8")
    restored = log_of(*values_of(THREE[0], ("a", "n-2"), THREE[1]))
    assert hear(restored) == ["n-2"]
    assert hear.answered == ["m-1", "n-2", "m-2"]
    assert hear(restored) == hear.answered == []


def test_a_log_that_ends_with_the_marker_of_a_transaction_is_read_to_its_end(hear):
    values = values_of(*THREE)
    assert hear(log_of(*values, until=4)) == ["m-1", "m-2", "m-3"]
    assert hear(log_of(*values, until=4)) == []


def file_of_before(offset, value, *told):
    """As it was kept before places had scopes: behind the last record that was read, with what was told of the partition."""
    seq, _ = consumer.read_head(value)
    place = {"offset": offset, "seq": seq, "hash": reader.leaf_hash(FINGERPRINT, b"run-1", value[5:]).hex(), "told": [f"acme/run-1/{name}" for name in told]}
    return json.dumps({"places": {"0": place, "1": {"offset": 0, "seq": 0, "hash": "00" * 32, "told": []}}})


@pytest.mark.parametrize("scope", ["acme", "*"])
def test_a_file_of_before_is_gone_on_from(hear, tmp_path, scope):
    one, two, three = values_of(*THREE)
    (tmp_path / "state.json").write_text(file_of_before(2, two, "m-1", "m-2"), encoding="utf-8")
    assert hear(log_of(one, two), scope) == hear.answered == []
    assert hear(log_of(one, two, three), scope) == hear.answered == ["m-3"]
    assert hear(log_of(one, two, three), scope) == hear.answered == []


def test_a_file_of_before_is_of_the_scope_it_was_first_started_with(hear, tmp_path):
    one, two, three = values_of(*THREE)
    (tmp_path / "state.json").write_text(file_of_before(3, three, "m-1", "m-3"), encoding="utf-8")
    assert hear(log_of(one, two, three), "acme/a") == hear.answered == []
    assert hear(log_of(one, two, three), "acme") == ["m-2"]


@pytest.mark.parametrize("log", [(0, 1, b"noise"), (0,), (0, b"noise", 2)], ids=["a void record", "nothing", "another"])
def test_of_a_file_of_before_whose_place_is_behind_something_else_the_log_is_read_anew_and_told_once(hear, tmp_path, log):
    values = values_of(*THREE)
    (tmp_path / "state.json").write_text(file_of_before(3, values[1], "m-1", "m-2"), encoding="utf-8")
    found = log_of(*(values[one] if isinstance(one, int) else one for one in log))
    assert hear(found) == []
    assert hear.answered == ["m-1", "m-2"][: sum(one in (0, 1) for one in log)]
    assert hear(found) == hear.answered == []
    assert hear(log_of(*values)) == ["m-3"]


@pytest.fixture
def saved(monkeypatch):
    """One of each time that the state was written."""
    times, save = [], consumer.save_state
    monkeypatch.setattr(consumer, "save_state", lambda path, state: times.append(save(path, state)))
    return times


def test_the_place_is_kept_once_for_what_was_fetched_together(hear, saved):
    hear(log_of(*values_of(*(("a", f"m-{n}") for n in range(20)))))
    assert len(saved) == 1


def test_what_changes_no_place_is_not_kept(hear, saved, monkeypatch):
    monkeypatch.setattr(consumer, "FETCHED_TOGETHER", 1)
    one, two, _ = values_of(*THREE)
    hear(log_of(one, one, b"noise", two, one))
    assert len(saved) == 2
    hear(log_of(one, one, b"noise", two, one))
    assert len(saved) == 2


def test_void_records_before_the_first_are_said_once_where_it_listens_and_it_listens_on(hear):
    one, two, _ = values_of(*THREE)
    log = log_of(b"noise")
    log["grows"] += [lambda: log.update(log_of(b"noise", b"noise"), grows=log["grows"]), lambda: log.update(log_of(b"noise", b"noise", one, two), grows=[])]
    with pytest.raises(AssertionError, match="listens on"):
        hear(log, follow=True)
    assert hear.heard == hear.answered == ["m-1", "m-2"]
    assert hear.said.splitlines() == ["partition 0: all 1 records are void: check --log-id, the topic, its partition count, and the fingerprints"]


def test_a_partition_of_void_records_ends_it_when_the_others_were_read(hear):
    with pytest.raises(ValueError, match="partition 0: all 1 records are void"):
        hear(log_of(b"noise"), client=Beside)
    assert hear.heard == hear.answered == ["m-9"]


def test_an_answer_that_fails_is_given_at_the_next_start_and_none_before_it_again(hear):
    log = log_of(*values_of(*THREE))
    with pytest.raises(RuntimeError, match="did not take"):
        hear(log, refused="m-3")
    assert (hear.heard, hear.answered) == (["m-1", "m-2", "m-3"], ["m-1", "m-2"])
    with pytest.raises(RuntimeError, match="did not take"):
        hear(log, refused="m-3")
    assert (hear.heard, hear.answered) == ([], [])
    assert (hear(log), hear.answered) == ([], ["m-3"])


def test_what_was_told_is_kept_also_where_no_place_changed_since_its_answer_failed(hear):
    log = log_of(*values_of(*THREE))
    with pytest.raises(RuntimeError, match="did not take"):
        hear(log, refused="m-1")
    assert (hear.heard, hear.answered) == (["m-1"], [])
    assert (hear(log), hear.answered) == (["m-2", "m-3"], ["m-1", "m-2", "m-3"])


@pytest.fixture
def begin(tmp_path, capsys, monkeypatch):
    """Starts the process with a file as its key: what it ended with and said. It must not come to read."""
    answer = json.dumps({"id": 9, "schema": json.dumps(released("recourse.consumers.RollbackAcknowledged"))}).encode()
    monkeypatch.setattr(consumer.urllib.request, "urlopen", lambda url, timeout: io.BytesIO(answer))
    monkeypatch.setattr(consumer, "read", lambda *_: print("it reads"))

    def start(pem):
        if pem is not None:
            (tmp_path / "key.pem").write_bytes(pem)
        where = ["--brokers", "127.0.0.1:1", "--registry", "http://registry", "--log-id", "log-1", "--consumer", "reports"]
        code = consumer.main([*where, "--signing-key", str(tmp_path / "key.pem"), "--key-id", "k-1"])
        return code, *capsys.readouterr()

    return start


@pytest.mark.parametrize("pem,problem", KEYS.values(), ids=KEYS)
def test_a_key_that_cannot_sign_stops_it_before_it_tells_anything(begin, pem, problem):
    code, out, said = begin(pem)
    assert (code, out, len(said.splitlines())) == (1, "", 1)
    assert problem in said and "key.pem" in said


def test_without_the_package_that_signs_it_stops_before_it_tells_anything(begin, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    code, out, said = begin(pem_of(Ed25519PrivateKey.generate()))
    assert (code, out, len(said.splitlines())) == (1, "", 1)
    assert "--signing-key needs the package cryptography" in said


def test_a_key_that_signs_lets_it_read(begin):
    assert begin(pem_of(Ed25519PrivateKey.generate())) == (0, "it reads\n", "")


def test_acknowledgements_that_no_broker_takes_stop_it():
    acks = consumer.Acks.__new__(consumer.Acks)
    acks.schema_id, acks.schema, acks.consumer, acks.private_key = 1, consumer.fastavro.parse_schema(released("recourse.consumers.RollbackAcknowledged")), "reports", None
    acks.producer = Producer({"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": 200, "log_level": 0})
    with pytest.raises((RuntimeError, KafkaException), match="did not take the acknowledgements: .*timed out"):
        acks.send(body_of(1, b"\0" * 32, "a", "m-1"), 1)


@pytest.mark.parametrize("lines,group", [
    ("", "recourse-python-consumer"),
    ("sasl.username=reports", "reports"),
    ("sasl.username=reports\ngroup.id=theirs", "theirs"),
], ids=["nobody", "a-user", "a-group"])
def test_it_speaks_as_the_group_of_its_user_which_alone_a_broker_that_asks_allows(tmp_path, monkeypatch, lines, group):
    made, config = [], tmp_path / "kafka.properties"
    config.write_text(lines, encoding="utf-8")
    monkeypatch.setattr(consumer, "Consumer", lambda settings: made.append(settings) or types.SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(consumer, "read", lambda *_: None)
    assert consumer.main(["--brokers", "127.0.0.1:1", "--registry", "http://registry", "--log-id", "log-1", "--kafka-config", str(config)]) == 0
    assert [settings["group.id"] for settings in made] == [group, group]
    assert [settings["enable.auto.commit"] for settings in made] == [False, False]
