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
