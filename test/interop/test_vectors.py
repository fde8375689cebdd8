"""The vectors every language must agree on, against the Python reference reader. vectors.unit.spec.ts is the same for TypeScript."""

import base64
import json
import pathlib

import fastavro
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import reference_reader as reader
import signatures

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schemas"


def vectors(name):
    return json.loads((SCHEMAS / "vectors" / f"{name}.json").read_text(encoding="utf-8"))["vectors"]


def released(message, version):
    return json.loads((SCHEMAS / "history" / message / f"{version}.avsc").read_text(encoding="utf-8"))


def in_json(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {name: in_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [in_json(item) for item in value]
    return value


def frames():
    return vectors("frames")


def test_there_are_vectors_for_every_message():
    topics = json.loads((SCHEMAS / "topics.json").read_text(encoding="utf-8"))["topics"]
    assert {frame["message"] for frame in frames()} == {record for topic in topics for record in topic["records"]}


@pytest.mark.parametrize("frame", frames(), ids=lambda frame: f"{frame['message']}-{frame['variant']}")
def test_frames_decode_and_encode(frame):
    schema = released(frame["message"], frame["version"])
    value = bytes.fromhex(frame["hex"])
    body = reader.decode(schema, value)
    assert reader.schema_id_of(value) == frame["schema_id"]
    assert in_json(body) == frame["body"]
    assert reader.encode(schema, frame["schema_id"], body) == value


@pytest.mark.parametrize("vector", vectors("fingerprints"), ids=lambda vector: vector["message"])
def test_fingerprints_of_released_schemas(vector):
    assert reader.schema_fingerprint(released(vector["message"], vector["version"])).hex() == vector["fingerprint"]


@pytest.mark.parametrize("vector", vectors("canonical-forms"), ids=lambda vector: vector["schema"]["name"])
def test_canonical_forms(vector):
    assert reader.canonical_form(vector["schema"]) == vector["canonical"]
    assert reader.schema_fingerprint(vector["schema"]).hex() == vector["fingerprint"]


@pytest.mark.parametrize("vector", vectors("leaf-hashes"), ids=lambda vector: vector["leaf"][:12])
def test_leaf_hashes(vector):
    leaf = reader.leaf_hash(bytes.fromhex(vector["fingerprint"]), vector["key"].encode(), bytes.fromhex(vector["avro"]))
    assert leaf.hex() == vector["leaf"]


@pytest.mark.parametrize("vector", vectors("genesis-hashes"), ids=lambda vector: vector["genesis"][:12])
def test_genesis_hashes(vector):
    of = {name: value for name, value in vector.items() if name != "genesis"}
    assert reader.genesis_hash(**of).hex() == vector["genesis"]


@pytest.mark.parametrize("vector", vectors("partitions"), ids=lambda vector: f"{vector['key'][:20]!a}-{vector['count']}")
def test_partitions(vector):
    key = vector["key"].encode()
    assert reader.murmur2(key) == vector["murmur2"]
    assert reader.partition_for_key(key, vector["count"]) == vector["partition"]


@pytest.mark.parametrize("vector", vectors("merkle-roots"), ids=lambda vector: str(len(vector["leaves"])))
def test_merkle_roots(vector):
    assert reader.merkle_root([bytes.fromhex(leaf) for leaf in vector["leaves"]]).hex() == vector["root"]


def judged(vector):
    start = reader.Head(0, reader.genesis_hash(**vector["genesis"]))
    known = {int(schema_id): bytes.fromhex(fingerprint) for schema_id, fingerprint in vector["fingerprints"].items()}
    records = [(None if key is None else key.encode(), None if value is None else bytes.fromhex(value)) for key, value in ((r["key"], r["value"]) for r in vector["records"])]
    return start, list(reader.read_partition(start, records, known.get))


@pytest.mark.parametrize("vector", vectors("acceptance"), ids=lambda vector: vector["name"])
def test_acceptance(vector):
    start, verdicts = judged(vector)
    head = verdicts[-1].head if verdicts else start
    assert [verdict.kind for verdict in verdicts] == vector["verdicts"]
    assert {"seq": head.seq, "hash": head.hash.hex()} == vector["head"]


# The second is the last instant that ECMAScript has, and beyond the year 9999.
@pytest.mark.parametrize("at", [1_700_000_000_000, 8_640_000_000_000_000])
def test_a_dump_is_read_to_its_head(at):
    message = "recourse.log.Progress"
    schema = released(message, 1)
    log = {"log_id": "log-1", "topic": "recourse.mutations", "partition": 0, "partition_count": 1}
    genesis = reader.genesis_hash(**log)
    body = {"seq": 1, "prev_hash": genesis, "decided_at": at, "cursors": [], "reacted_seq": 0}
    value = reader.encode(schema, 5, body)
    record = {"offset": 0, "key": base64.b64encode(b"progress").decode(), "value": base64.b64encode(value).decode()}
    lines = [{"log": log}, {"schema": {"id": 5, "text": json.dumps(schema)}}, {"record": record}, {"record": {**record, "offset": 1}}]
    read = list(reader.read_dump(json.dumps(line) for line in lines))
    assert [(offset, verdict.kind) for offset, verdict, _ in read] == [(0, "accepted"), (1, "void")]
    assert read[0][2]["decided_at"] == at
    assert read[1][1].head == reader.Head(1, reader.leaf_hash(reader.schema_fingerprint(schema), b"progress", value[5:]))


def noted(schema):
    """The schema with notes of fastavro's own in it, that say something else of a state: the canonical form stays."""
    notes = json.loads(json.dumps(fastavro.parse_schema(schema)))
    symbols = notes["__named_schemas"]["recourse.common.RecoverabilityState"]["symbols"]
    symbols.reverse()
    return notes


NOTED = [frame for frame in frames() if frame["message"] == "recourse.mutations.RecoverabilityChanged"]


@pytest.mark.parametrize("frame", NOTED, ids=lambda frame: frame["variant"])
def test_a_schema_is_read_as_it_is_written_whatever_notes_stand_in_it(frame):
    schema = released(frame["message"], frame["version"])
    assert reader.schema_fingerprint(noted(schema)) == reader.schema_fingerprint(schema)
    assert in_json(reader.decode(noted(schema), bytes.fromhex(frame["hex"]))) == frame["body"]


OWNER = Ed25519PrivateKey.from_private_bytes(b"\7" * 32)
LOG = {"log_id": "log-1", "topic": "recourse.mutations", "partition": 0, "partition_count": 1}
MINUTES = "2026-01-01T00:0{}:00Z"
SIGNED_AT = 1_767_225_660_000


def key_of(**edit):
    raw = base64.b64encode(OWNER.public_key().public_bytes_raw()).decode()
    return {"id": "ledger-1", "public_key": raw, "speaks_as": "service", "names": ["mutation-ledger"], "tenants": ["*"], **edit}


def signed_dump():
    """A log of three records, signed at minute 1 together; a stranger wrote what follows on them."""
    schema, head, records = released("recourse.log.Progress", 1), reader.Head(0, reader.genesis_hash(**LOG)), []
    for offset in range(4):
        value = reader.encode(schema, 5, {"seq": offset + 1, "prev_hash": head.hash, "decided_at": 1, "cursors": [], "reacted_seq": 0})
        records.append({"offset": offset, "key": base64.b64encode(b"progress").decode(), "value": base64.b64encode(value).decode()})
        head = reader.Head(offset + 1, reader.leaf_hash(reader.schema_fingerprint(schema), b"progress", value[5:]))
    said = [(b"progress", base64.b64decode(record["value"])) for record in records[:3]]
    header = f"v1 ledger-1 {SIGNED_AT} 3"
    signature = signatures.sign(b"\7" * 32, signatures.signed_text(LOG["topic"], said, f"{header} -", LOG["partition"]))
    return [{"log": LOG}, {"schema": {"id": 5, "text": json.dumps(schema)}}, *({"record": record} for record in [{**records[0], "signature": f"{header} {signature}"}, *records[1:]])]


def read_of(dump, key=None):
    keyring = None if key is None else {"keys": [key]}
    return [verdict.kind for _, verdict, _ in reader.read_dump(map(json.dumps, dump), keyring)]


def test_with_a_keyring_what_the_owner_did_not_sign_is_void():
    assert read_of(signed_dump()) == ["accepted"] * 4
    assert read_of(signed_dump(), key_of()) == ["accepted"] * 3 + ["void"]


@pytest.mark.parametrize("edit,counts", [
    ({"valid_from": MINUTES.format(1), "valid_until": MINUTES.format(2)}, True),
    ({"revoked_at": MINUTES.format(2)}, True),
    ({"speaks_as": ["producer", "service"], "names": ["*"]}, True),
    ({"valid_from": MINUTES.format(2)}, False),
    ({"valid_until": MINUTES.format(1)}, False),
    ({"revoked_at": MINUTES.format(1)}, False),
    ({"names": ["contract-registry"]}, False),
    ({"speaks_as": "producer"}, False),
    ({"id": "ledger-2"}, False),
], ids=str)
def test_a_key_signs_a_log_as_the_keyring_has_it(edit, counts):
    assert read_of(signed_dump(), key_of(**edit)) == (["accepted"] * 3 + ["void"] if counts else ["void"] * 4)


def test_a_batch_that_is_not_whole_or_not_as_it_was_signed_is_void():
    first, schema, one, two, three, four = signed_dump()
    for records in ([one, two], [one, two, {"record": {**three["record"], "offset": 7}}], [one, two, {"record": {**three["record"], "key": None}}]):
        assert "accepted" not in read_of([first, schema, *records], key_of())


@pytest.mark.parametrize("header", ["", "v1", "v1 ledger-1 x 3 AA==", "v1 ledger-1 1 0 AA==", "v1 ledger-1 1 1 AA==", "v1 ledger-1 1 1 A", "v2 ledger-1 1 1 AA==", "v1 ledger-1 1 1 AA== 0 AA=="])
def test_a_header_that_is_no_signature_of_a_batch_covers_nothing(header):
    first, schema, one, *others = signed_dump()
    assert "accepted" not in read_of([first, schema, {"record": {**one["record"], "signature": header}}, *others], key_of())


@pytest.mark.parametrize("edit,code", [({}, 0), ({"log_id": "log-2"}, 1)], ids=str)
def test_a_dump_of_which_all_is_void_is_none_that_was_read(edit, code, tmp_path, capsys):
    _, *others = signed_dump()
    path = tmp_path / "dump.jsonl"
    path.write_text("\n".join(map(json.dumps, [{"log": {**LOG, **edit}}, *others])), encoding="utf-8")
    assert reader.main(str(path)) == code
    assert ("every record is void" in capsys.readouterr().err) == (code == 1)


def ending_of(dump, tmp_path, capsys):
    path = tmp_path / "dump.jsonl"
    path.write_text("\n".join(map(json.dumps, dump)), encoding="utf-8")
    return reader.main(str(path)), capsys.readouterr().err


def records_of(count, head, mark=0, message="recourse.log.Progress", body=None):
    """Records one behind the other, and the head behind them."""
    schema, records = released(message, 1), []
    for _ in range(count):
        said = {"seq": head.seq + 1, "prev_hash": head.hash, "decided_at": 1, **(body or {"cursors": [], "reacted_seq": mark})}
        value = reader.encode(schema, SCHEMA_IDS[message], said)
        records.append({"key": base64.b64encode(b"progress").decode(), "value": base64.b64encode(value).decode()})
        head = reader.Head(head.seq + 1, reader.leaf_hash(reader.schema_fingerprint(schema), b"progress", value[5:]))
    return records, head


SCHEMA_IDS = {"recourse.log.Progress": 5, "recourse.log.CutAccepted": 6}
GENESIS = reader.Head(0, reader.genesis_hash(**LOG))


def dump_of(*records):
    schemas = [{"schema": {"id": number, "text": json.dumps(released(message, 1))}} for message, number in SCHEMA_IDS.items()]
    return [{"log": LOG}, *schemas, *({"record": {"offset": offset, **record}} for offset, record in enumerate(records))]


def test_what_a_rival_left_in_a_log_ends_with_0(tmp_path, capsys):
    first, head = records_of(3, GENESIS)
    rivals, _ = records_of(3, records_of(1, GENESIS)[1], mark=9)
    then, _ = records_of(2, head)
    assert ending_of(dump_of(*first, *rivals, *then), tmp_path, capsys)[0] == 0


@pytest.mark.parametrize("at", range(4))
def test_a_log_of_which_a_record_was_altered_or_taken_out_ends_with_1(at, tmp_path, capsys):
    records, _ = records_of(5, GENESIS)
    other = records_of(5, GENESIS, mark=7)[0][at]
    for altered in ([*records[:at], other, *records[at + 1 :]], [*records[:at], *records[at + 1 :]]):
        code, said = ending_of(dump_of(*altered), tmp_path, capsys)
        assert code == 1
        assert "not sound" in said or "every record is void" in said


def test_a_record_that_cannot_be_read_ends_with_1(tmp_path, capsys):
    records, _ = records_of(2, GENESIS)
    code, said = ending_of(dump_of(*records, {"key": None, "value": None}), tmp_path, capsys)
    assert code == 1 and said.endswith("at the offsets 2\n")


def test_what_a_cut_gave_up_as_lost_may_be_followed(tmp_path, capsys):
    first, head = records_of(2, GENESIS)
    _, lost = records_of(3, head)
    late, _ = records_of(1, lost)
    body = {"lost_from_seq": 3, "lost_to_seq": lost.seq, "lost_head_hash": lost.hash, "by": "olga", "reason": "a broker was lost"}
    cut, _ = records_of(1, head, message="recourse.log.CutAccepted", body=body)
    assert ending_of(dump_of(*first, *late, *cut), tmp_path, capsys)[0] == 0
    assert ending_of(dump_of(*first, *late), tmp_path, capsys)[0] == 1


def two_logs(dump):
    return [*dump, dump[0]]


def again(dump):
    return [*dump, dump[-1]]


def no_base64(dump):
    record = dump[-1]["record"]
    return [*dump[:-1], {"record": {**record, "value": f"!{record['value']}"}}]


@pytest.mark.parametrize("edit", [two_logs, again, no_base64])
def test_what_no_dump_holds_is_damage(edit, tmp_path, capsys):
    dump = dump_of(*records_of(2, GENESIS)[0])
    assert ending_of(dump, tmp_path, capsys)[0] == 0
    code, said = ending_of(edit(dump), tmp_path, capsys)
    assert code == 1 and "the dump is damaged" in said


@pytest.mark.parametrize("vector", vectors("effect-keys"), ids=lambda vector: vector["step"] or "empty")
def test_effect_keys_are_the_same_in_every_language(vector):
    assert reader.canonical_json(vector["args"]) == vector["canonical_args"]
    assert reader.effect_key(vector["step"], vector["capability"], vector["target"], vector["args"]) == vector["effect_key"]
    assert reader.mutation_id(vector["tenant"], vector["run_id"], vector["effect_key"]) == vector["mutation_id"]


@pytest.mark.parametrize("vector", vectors("signatures"), ids=lambda vector: vector["topic"])
def test_signatures(vector):
    records = [(record["key"].encode(), bytes.fromhex(record["value"])) for record in vector["records"]]
    signed = signatures.signed_text(vector["topic"], records, vector["header"], vector["partition"])
    assert signed == vector["signed_text"]
    assert signatures.sign(bytes.fromhex(vector["private_key"]), signed) == vector["header"].split(" ")[4]
    assert signatures.is_signed_by(vector["public_key"], signed, vector["header"])
    assert not signatures.is_signed_by(vector["public_key"], signed + " ", vector["header"])
