"""The checker of story packets, over a packet that the command line wrote: it holds, and no altered one does."""

import base64
import copy
import json
from pathlib import Path

import check_story
import pytest
import reference_reader
from check_proof import Wrong

VECTOR = json.loads((Path(__file__).parent / "proofs" / "story.json").read_text(encoding="utf-8"))
KEY, PACKET = VECTOR["key"], VECTOR["packet"]
RECORDS, LINES = range(len(PACKET["records"])), range(len(PACKET["story"]["lines"]))
MEMBER = next(at for at in LINES if PACKET["story"]["lines"][at]["index"] is not None)


def altered(edit):
    packet = copy.deepcopy(PACKET)
    edit(packet)
    return packet


def refused(edit):
    with pytest.raises((Wrong, LookupError, ValueError)):
        check_story.check(altered(edit), KEY)


def test_the_packet_of_a_story_holds():
    assert check_story.check(PACKET, KEY) == len(PACKET["records"])


@pytest.mark.parametrize("at", RECORDS)
@pytest.mark.parametrize("field", ["hash", "key", "value", "seq", "partition", "log"])
def test_a_packet_with_another_record_does_not_hold(at, field):
    def edit(packet):
        old = packet["records"][at][field]
        if isinstance(old, int):
            packet["records"][at][field] = old + 1
        elif field in ("key", "value"):
            packet["records"][at][field] = old[:8] + ("AAAA" if old[8:12] != "AAAA" else "BBBB") + old[12:]
        else:
            packet["records"][at][field] = old[:-1] + ("0" if old[-1] != "0" else "1")

    refused(edit)


@pytest.mark.parametrize("at", RECORDS)
def test_a_packet_with_a_record_that_is_not_proved_does_not_hold(at):
    refused(lambda packet: packet["records"][at].update(proof=None))
    refused(lambda packet: packet["records"][at].update(proof=packet["records"][at - 1]["proof"]))


def test_a_record_whose_instant_is_beyond_the_year_9999_is_read(monkeypatch):
    fields = [{"name": "tenant", "type": "string"}, {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]}]
    schema = {"type": "record", "name": "Far", "namespace": "example", "fields": fields}
    value = reference_reader.encode(schema, 7, {"tenant": "acme", "at": 8_640_000_000_000_000})
    digest = reference_reader.leaf_hash(reference_reader.schema_fingerprint(schema), b"k", value[5:]).hex()
    place = {"log": "recourse.mutations", "partition": 0, "seq": 1}
    proof = {"log": {"log_id": "log-1", "topic": place["log"], "partition": 0}, "record": {"seq": 1, "leaf": digest}}
    record = {**place, "hash": digest, "key": base64.b64encode(b"k").decode(), "value": base64.b64encode(value).decode(), "proof": proof}
    monkeypatch.setattr(check_story.check_proof, "check", lambda *_: None)
    assert check_story.check_record(record, {7: schema}, KEY) == ("log-1", "Far", {"tenant": "acme", "at": 8_640_000_000_000_000})


def test_a_packet_with_a_record_twice_does_not_hold():
    refused(lambda packet: packet["records"].append(packet["records"][0]))


def test_a_packet_of_another_deployment_than_the_one_named_does_not_hold():
    log_id = PACKET["records"][0]["proof"]["log"]["log_id"]
    assert check_story.check(PACKET, KEY, log_id) == len(PACKET["records"])
    with pytest.raises(Wrong):
        check_story.check(PACKET, KEY, f"{log_id}-2")


def test_a_packet_whose_heads_a_witness_that_is_named_did_not_sign_does_not_hold():
    witness = json.loads((Path(__file__).parent / "proofs" / "witnessed.json").read_text(encoding="utf-8"))["witness"]
    with pytest.raises(Wrong, match="did not sign the head"):
        check_story.check(PACKET, KEY, None, (witness,))


def test_a_packet_that_tells_of_another_tenant_does_not_hold():
    tenants = {check_story.tenant_of(body) for body in bodies()} - {None, "*"}
    assert len(tenants) == 1
    check_story.check(altered(lambda packet: packet["story"]["about"].update(tenant=tenants.pop())), KEY)
    refused(lambda packet: packet["story"]["about"].update(tenant="another"))


@pytest.mark.parametrize("tenants,named,holds", [(["acme", "acme", "*"], None, True), (["acme", "globex"], None, False), (["acme", "globex"], "acme", False), (["acme"], "acme", True)], ids=str)
def test_a_packet_tells_of_one_tenant_whether_it_names_it_or_not(monkeypatch, tenants, named, holds):
    places = [{"log": "recourse.contracts", "partition": 0, "seq": seq} for seq in range(len(tenants))]
    about = {} if named is None else {"tenant": named}
    lines = [{**place, "record_hash": "h", "type": "T", "index": None} for place in places]
    records = [{**place, "hash": "h", "proof": {"head": "log-1/recourse.contracts/0\n"}} for place in places]
    packet = {"format": PACKET["format"], "schemas": [], "records": records, "story": {"about": about, "lines": lines}}
    monkeypatch.setattr(check_story, "check_record", lambda record, *_: ("log-1", "T", {"tenant": tenants[record["seq"]]}))
    if holds:
        assert check_story.check(packet, KEY) == len(tenants)
    else:
        with pytest.raises(Wrong, match="tenant"):
            check_story.check(packet, KEY)


@pytest.mark.parametrize("index,holds", [(0, True), (2, True), (3, False), (-1, False), (None, False)], ids=str)
def test_a_line_names_one_of_several_commits_that_fell_together(index, holds):
    place = ("recourse.mutations", 0, 7)
    line = {"log": place[0], "partition": place[1], "seq": place[2], "record_hash": "h", "type": "T", "index": index}
    told = {place: ("h", "T", {"tenant": "acme", "others": [{"commit_id": "cp_8"}, {"commit_id": "cp_9"}]})}
    if holds:
        check_story.check_line(line, told, "acme")
    else:
        with pytest.raises(Wrong, match="member"):
            check_story.check_line(line, told, "acme")


def test_a_line_about_a_commit_that_fell_alone_names_no_place():
    place = ("recourse.mutations", 0, 7)
    line = {"log": place[0], "partition": place[1], "seq": place[2], "record_hash": "h", "type": "T", "index": None}
    check_story.check_line(line, {place: ("h", "T", {"tenant": "acme", "others": []})}, "acme")


def test_a_packet_whose_log_is_proved_of_two_generations_does_not_hold(monkeypatch):
    places = [{"log": "recourse.contracts", "partition": partition, "seq": seq} for partition, seq in ((0, 1), (0, 2), (1, 1))]
    lines = [{**place, "record_hash": "h", "type": "T", "index": None} for place in places]
    monkeypatch.setattr(check_story, "check_record", lambda *_: ("log-1", "T", {"tenant": "acme"}))

    def packet(*generations):
        heads = [f"log-1/recourse.contracts/{place['partition']}{of}\n" for place, of in zip(places, generations)]
        records = [{**place, "hash": "h", "proof": {"head": head}} for place, head in zip(places, heads)]
        return {"format": PACKET["format"], "schemas": [], "records": records, "story": {"about": {"tenant": "acme"}, "lines": lines}}

    assert check_story.check(packet("#1", "#1", ""), KEY) == 3
    with pytest.raises(Wrong, match="generations"):
        check_story.check(packet("", "#1", ""), KEY)


def bodies():
    schemas = {one["id"]: json.loads(one["text"]) for one in PACKET["schemas"]}
    return [check_story.check_record(record, schemas, KEY)[2] for record in PACKET["records"]]


@pytest.mark.parametrize("at", LINES)
def test_a_line_about_another_record_does_not_hold(at):
    refused(lambda packet: packet["story"]["lines"][at].update(record_hash="0" * 64))
    refused(lambda packet: packet["story"]["lines"][at].update(seq=10**6))
    refused(lambda packet: packet["story"]["lines"][at].update(type="Nothing"))


@pytest.mark.parametrize("index", [None, -1, 10**6])
def test_a_line_about_a_member_that_is_not_there_does_not_hold(index):
    refused(lambda packet: packet["story"]["lines"][MEMBER].update(index=index))


def test_the_key_of_somebody_else_proves_nothing():
    name, _, encoded = KEY.split("+", 2)
    with pytest.raises(Wrong):
        check_story.check(PACKET, f"{name}+00000000+{encoded}")


def test_the_verdict_names_the_version_of_the_words(tmp_path, capsys):
    for words in (1, 2):
        path = tmp_path / f"{words}.json"
        path.write_text(json.dumps(altered(lambda packet: packet["story"].update(words=words) if words > 1 else packet["story"].pop("words", None))), encoding="utf-8")
        assert check_story.main(str(path), KEY) == 0
        assert capsys.readouterr().out.endswith(f", told in words {words}\n")
