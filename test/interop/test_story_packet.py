"""The checker of story packets, over a packet that the command line wrote: it holds, and no altered one does."""

import copy
import json
from pathlib import Path

import check_story
import pytest
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


def test_a_packet_with_a_record_twice_does_not_hold():
    refused(lambda packet: packet["records"].append(packet["records"][0]))


def test_a_packet_of_another_deployment_than_the_one_named_does_not_hold():
    log_id = PACKET["records"][0]["proof"]["log"]["log_id"]
    assert check_story.check(PACKET, KEY, log_id) == len(PACKET["records"])
    with pytest.raises(Wrong):
        check_story.check(PACKET, KEY, f"{log_id}-2")


def test_a_packet_that_tells_of_another_tenant_does_not_hold():
    tenants = {check_story.tenant_of(body) for body in bodies()} - {None, "*"}
    assert len(tenants) == 1
    check_story.check(altered(lambda packet: packet["story"]["about"].update(tenant=tenants.pop())), KEY)
    refused(lambda packet: packet["story"]["about"].update(tenant="another"))


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
