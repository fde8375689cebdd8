"""Checks a packet that `recourse audit story --packet --auditor-key` wrote: each record is whole and proved, each line is about one of them.

    python check_story.py PACKET.json VERIFIER-KEY

Shares no code with the writers. What a packet is stands in apps/cli/src/story/story.packet.ts. The words of the lines are not told
again here. Prints `ok`, or what is wrong, and ends with 1 then.
"""

import base64
import hashlib
import io
import json
import struct
import sys

import check_proof
import fastavro
from check_proof import Wrong, part
from fastavro.schema import fingerprint, to_parsing_canonical_form

FRAME_SIZE = 5


def check_record(record: dict, schemas: dict[int, dict], key_text: str) -> tuple[str, dict]:
    """Type and body of a record that is whole, and stands where it says."""
    value = base64.b64decode(record["value"], validate=True)
    schema = schemas[struct.unpack(">I", value[1:FRAME_SIZE])[0]]
    printed = bytes.fromhex(fingerprint(to_parsing_canonical_form(schema), "SHA-256"))
    parts = [printed, base64.b64decode(record["key"], validate=True), value[FRAME_SIZE:]]
    if hashlib.sha256(b"\0" + b"".join(part(one) for one in parts)).hexdigest() != record["hash"]:
        raise Wrong("a record has another hash than it is named by")
    proof = record["proof"]
    if proof is None:
        raise Wrong("a record is not proved")
    check_proof.check(proof, key_text)
    log, proved = proof["log"], proof["record"]
    if (log["topic"], log["partition"], proved["seq"], proved["leaf"]) != (*place_of(record), record["hash"]):
        raise Wrong("a proof is of another record")
    return schema["name"].split(".")[-1], fastavro.schemaless_reader(io.BytesIO(value[FRAME_SIZE:]), schema, None)


def place_of(one: dict) -> tuple[str, int, int]:
    return one["log"], one["partition"], one["seq"]


def check_line(line: dict, told: dict[tuple[str, int, int], tuple[str, str, dict]]) -> None:
    """A line is about a record of the packet, or about one of the members of such a record."""
    if place_of(line) not in told:
        raise Wrong("a line is about a record that is not in the packet")
    record_hash, kind, body = told[place_of(line)]
    if line["record_hash"] != record_hash or line["type"] != kind:
        raise Wrong("a line names another record")
    members = body.get("members")
    if not isinstance(members, list):
        if line["index"] is not None:
            raise Wrong("a line is about a member of a record that has none")
    elif not isinstance(line["index"], int) or not 0 <= line["index"] < len(members):
        raise Wrong("a line is about a member that is not there")


def check(packet: dict, key_text: str) -> int:
    """How many records are proved. Raises Wrong unless all are, and every line is about one of them."""
    if packet.get("format") != "recourse.story-packet/1":
        raise Wrong("this is no packet of a story, or of another format")
    schemas = {one["id"]: json.loads(one["text"]) for one in packet["schemas"]}
    told = {}
    for record in packet["records"]:
        kind, body = check_record(record, schemas, key_text)
        told[place_of(record)] = (record["hash"], kind, body)
    if not packet["story"]["lines"]:
        raise Wrong("the packet tells nothing")
    for line in packet["story"]["lines"]:
        check_line(line, told)
    return len(told)


def main(packet_file: str, key_text: str) -> int:
    try:
        with open(packet_file, encoding="utf-8") as file:
            print(f"ok: {check(json.load(file), key_text)} records are proved")
    except (Wrong, LookupError, ValueError, TypeError, AttributeError, struct.error, EOFError) as problem:
        print(problem)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
