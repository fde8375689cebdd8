"""Checks a packet that `recourse audit story --packet --auditor-key` wrote: each record is whole and proved, each line is about one of them.

    python check_story.py PACKET.json VERIFIER-KEY [LOG-ID] [--witness-key VERIFIER-KEY]...

Shares no code with the writers. What a packet is stands in apps/cli/src/story/story.packet.ts. The words of the lines are not told
again here. Prints `ok:`, the logs that it is of and the version of its words (the first do not say who acted of all that people
did; `recourse audit check-story` tells it in those of today), or what is wrong, and ends with 1 then. A packet that names no tenant, as older
ones do, tells of one all the same. Each witness whose key is named has to have signed the heads of the proofs, too.
"""

import argparse
import base64
import hashlib
import json
import struct
import sys

import check_proof
from check_proof import Wrong, part
from reference_reader import decode, schema_fingerprint

FRAME_SIZE = 5


def check_record(record: dict, schemas: dict[int, dict], key_text: str, witness_texts: tuple[str, ...] = ()) -> tuple[str, str, dict]:
    """Log id, type and body of a record that is whole, and stands where it says."""
    value = base64.b64decode(record["value"], validate=True)
    schema = schemas[struct.unpack(">I", value[1:FRAME_SIZE])[0]]
    parts = [schema_fingerprint(schema), base64.b64decode(record["key"], validate=True), value[FRAME_SIZE:]]
    if hashlib.sha256(b"\0" + b"".join(part(one) for one in parts)).hexdigest() != record["hash"]:
        raise Wrong("a record has another hash than it is named by")
    proof = record["proof"]
    if proof is None:
        raise Wrong("a record is not proved")
    check_proof.check(proof, key_text, None, witness_texts)
    log, proved = proof["log"], proof["record"]
    if (log["topic"], log["partition"], proved["seq"], proved["leaf"]) != (*place_of(record), record["hash"]):
        raise Wrong("a proof is of another record")
    return log["log_id"], schema["name"].split(".")[-1], decode(schema, value)


def place_of(one: dict) -> tuple[str, int, int]:
    return one["log"], one["partition"], one["seq"]


def generation_of(record: dict) -> str:
    """Which generation of its log the head of its proof is of; empty until a person gave up the heads before."""
    return record["proof"]["head"].partition("\n")[0].partition("#")[2]


def tenant_of(body: dict) -> str | None:
    return body.get("tenant") or (body.get("execution") or {}).get("tenant")


def is_of_tenant(line: dict, body: dict, tenant: str) -> bool:
    """Contracts alone stand for all tenants."""
    own = tenant_of(body)
    return own == tenant or (own == "*" and line["log"] == "recourse.contracts")


def members_of(body: dict) -> list | None:
    """What a record says of several things: a list of its own, or what it says on top and of others beside that."""
    members, others = body.get("members"), body.get("others")
    if isinstance(others, list) and others:
        return [body, *others]
    return members if isinstance(members, list) else None


def check_line(line: dict, told: dict[tuple[str, int, int], tuple[str, str, dict]], tenant: str | None) -> None:
    """A line is about a record of the packet, or about one of the members of such a record, of the tenant whose story it is."""
    if place_of(line) not in told:
        raise Wrong("a line is about a record that is not in the packet")
    record_hash, kind, body = told[place_of(line)]
    if line["record_hash"] != record_hash or line["type"] != kind:
        raise Wrong("a line names another record")
    if tenant is not None and not is_of_tenant(line, body, tenant):
        raise Wrong("a line is about a record of another tenant")
    members = members_of(body)
    if members is None:
        if line["index"] is not None:
            raise Wrong("a line is about a member of a record that has none")
    elif not isinstance(line["index"], int) or not 0 <= line["index"] < len(members):
        raise Wrong("a line is about a member that is not there")


def check(packet: dict, key_text: str, log_id_wanted: str | None = None, witness_texts: tuple[str, ...] = ()) -> int:
    """How many records are proved. Raises Wrong unless all are, and every line is about one of them."""
    if packet.get("format") != "recourse.story-packet/1":
        raise Wrong("this is no packet of a story, or of another format")
    schemas = {one["id"]: json.loads(one["text"]) for one in packet["schemas"]}
    told = {}
    log_ids = set()
    generations: dict[tuple[str, int], str] = {}
    for record in packet["records"]:
        log_id, kind, body = check_record(record, schemas, key_text, witness_texts)
        if place_of(record) in told:
            raise Wrong("a record is in the packet twice")
        log_ids.add(log_id)
        if generations.setdefault(place_of(record)[:2], generation_of(record)) != generation_of(record):
            raise Wrong("records of one log are proved of several generations of it: the heads of all but the newest were given up")
        told[place_of(record)] = (record["hash"], kind, body)
    if len(log_ids) > 1:
        raise Wrong(f"records are of several deployments: {', '.join(sorted(log_ids))}")
    if log_id_wanted is not None and log_ids != {log_id_wanted}:
        raise Wrong("records are of another deployment than the one that was named")
    if not packet["story"]["lines"]:
        raise Wrong("the packet tells nothing")
    tenant = packet["story"]["about"].get("tenant")
    for line in packet["story"]["lines"]:
        check_line(line, told, tenant)
    told_of = {tenant_of(told[place_of(line)][2]) for line in packet["story"]["lines"]} - {None, "*"}
    if tenant is None and len(told_of) > 1:
        raise Wrong(f"lines are about several tenants: {', '.join(sorted(told_of))}")
    return len(told)


def main(packet_file: str, key_text: str, log_id: str | None = None, witness_texts: tuple[str, ...] = ()) -> int:
    try:
        with open(packet_file, encoding="utf-8") as file:
            packet = json.load(file)
        count = check(packet, key_text, log_id, witness_texts)
        log_id_proved, words = packet["records"][0]["proof"]["log"]["log_id"], packet["story"].get("words", 1)
        print(f"ok: {count} records are proved, of the logs {log_id_proved}, told in words {words}")
    except (Wrong, OSError, LookupError, ValueError, TypeError, AttributeError, OverflowError, struct.error, EOFError) as problem:
        print(problem)
        return 1
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="check_story.py", allow_abbrev=False)
    parser.add_argument("packet", metavar="PACKET.json")
    parser.add_argument("key", metavar="VERIFIER-KEY")
    parser.add_argument("log_id", metavar="LOG-ID", nargs="?")
    parser.add_argument("--witness-key", metavar="VERIFIER-KEY", action="append", default=[])
    named = parser.parse_args()
    sys.exit(main(named.packet, named.key, named.log_id, tuple(named.witness_key)))
