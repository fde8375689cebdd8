"""Checks a proof that `recourse audit prove` wrote, with the standard library, fastavro and cryptography alone.

    python check_proof.py PROOF.json VERIFIER-KEY [LOG-ID] [--witness-key VERIFIER-KEY]...

Shares no code with the writers. What a proof is stands in libs/audit/src/proof.ts; the formats are RFC 6962 / RFC 9162 for the tree,
C2SP signed-note, tlog-checkpoint and tlog-cosignature for the head. Prints `ok:` and whose record it is (log id, topic, partition, seq), or what is
wrong, and ends with 1 then. One auditor may sign the logs of several deployments: LOG-ID names the one that it has to be of.
Each witness whose key is named has to have signed the heads, too.
"""

import argparse
import base64
import hashlib
import json
import re
import struct
import sys
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from fastavro.schema import fingerprint, to_parsing_canonical_form

ED25519 = 1
COSIGNATURE = 4
TIME_OCTETS = 8
# Members of a proof and of its parts: one that is neither checked nor passed over could be taken for something.
MEMBERS = {
    "proof": {"format", "log", "record", "inclusion", "head", "consistency"},
    "log": {"log_id", "topic", "partition"},
    "record": {"seq", "offset", "key", "value", "schema", "fingerprint", "leaf"},
    "inclusion": {"index", "size", "path"},
    "consistency": {"from", "path"},
}


class Wrong(Exception):
    """What is wrong with a proof."""


class Head(NamedTuple):
    origin: str
    size: int
    root: bytes


class Key(NamedTuple):
    name: str
    id: bytes
    public: Ed25519PublicKey
    algorithm: int


def verifier_key(text: str, algorithm: int = ED25519) -> Key:
    name, key_id, encoded = text.strip().split("+", 2)
    raw = base64.b64decode(encoded, validate=True)
    expected = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    if raw[0] != algorithm or len(raw) != 33 or expected.hex() != key_id:
        raise Wrong(f"this is no verifier key of {'an auditor' if algorithm == ED25519 else 'a witness'}")
    return Key(name, expected, Ed25519PublicKey.from_public_bytes(raw[1:]), algorithm)


def signed_head(note: str, key: Key, witnesses: list[Key]) -> Head:
    """The head of a log. Any of the signatures may be the auditor's, or a witness's; those of others are passed over."""
    text, separator, signatures = note.rpartition("\n\n")
    text += "\n"
    if not separator or not signatures.endswith("\n"):
        raise Wrong("the head is no signed note")
    lines = signatures[:-1].split("\n")
    if not any([is_signature(line, text, key) for line in lines]):
        raise Wrong("the auditor did not sign the head")
    for witness in witnesses:
        if not any([is_signature(line, text, witness) for line in lines]):
            raise Wrong(f"{witness.name} did not sign the head")
    origin, size, root, *lines = text.split("\n")
    if not any(re.fullmatch("head [0-9a-f]{64}", line) for line in lines):
        raise Wrong("the head is of a wire, or says nothing of the last record")
    return Head(origin, int(size), base64.b64decode(root, validate=True))


def is_signature(line: str, text: str, key: Key) -> bool:
    dash, signer, encoded = line.split(" ")
    data = base64.b64decode(encoded, validate=True)
    if dash != "\u2014" or signer != key.name or data[:4] != key.id:
        return False
    signature, signed = data[4:], text
    if key.algorithm == COSIGNATURE:
        seconds = int.from_bytes(signature[:TIME_OCTETS], "big")
        signature, signed = signature[TIME_OCTETS:], f"cosignature/v1\ntime {seconds}\n{text}"
    try:
        key.public.verify(signature, signed.encode())
        return True
    except InvalidSignature:
        return False


def octets(text: str) -> bytes:
    """A hash of 32 octets, in lower-case hex."""
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise Wrong("a hash is not 32 octets in lower-case hex")
    return bytes.fromhex(text)


def part(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of_inclusion(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """RFC 9162, section 2.1.3.2."""
    if not 0 <= index < size:
        raise Wrong("the record is not in the tree of the head")
    fn, sn, root = index, size - 1, leaf
    for step in path:
        if sn == 0:
            raise Wrong("the path is too long")
        if fn & 1 or fn == sn:
            root = node(step, root)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            root = node(root, step)
        fn, sn = fn >> 1, sn >> 1
    if sn:
        raise Wrong("the path is too short")
    return root


def is_consistent(first: Head, second: Head, path: list[bytes]) -> bool:
    """RFC 9162, section 2.1.4.2."""
    if first.size == 0:
        return not path
    if first.size > second.size:
        return False
    if first.size == second.size:
        return not path and first.root == second.root
    steps = [first.root, *path] if first.size & (first.size - 1) == 0 else list(path)
    if not steps:
        return False
    fn, sn = first.size - 1, second.size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    older = newer = steps[0]
    for step in steps[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            older, newer = node(step, older), node(step, newer)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            newer = node(newer, step)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and older == first.root and newer == second.root


def avro_long(data: bytes) -> int:
    value = shift = 0
    for octet in data[:10]:
        value |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            return (value >> 1) ^ -(value & 1)
    raise Wrong("the record does not begin with its seq")


def as_written(schema: object) -> object:
    """A schema without what fastavro takes for its own notes of one: whoever wrote the proof wrote those."""
    if isinstance(schema, dict):
        return {name: as_written(member) for name, member in schema.items() if not name.startswith("__")}
    return [as_written(item) for item in schema] if isinstance(schema, list) else schema


def has_its_members(proof: dict) -> bool:
    parts = {"proof": proof, **{name: proof.get(name) for name in MEMBERS if name != "proof"}}
    if proof.get("consistency") is None:
        parts["consistency"] = {"from": "", "path": []}
    if not all(set(parts[name]) == members for name, members in MEMBERS.items()):
        return False
    places = [parts["log"]["partition"], *(parts["record"][name] for name in ("seq", "offset")), *(parts["inclusion"][name] for name in ("index", "size"))]
    return all(map(is_place, places))


def is_place(value: object) -> bool:
    """To JSON, 2.0 is 2, and true is no number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 and value == int(value)


def check(proof: dict, key_text: str, log_id_wanted: str | None = None, witness_texts: tuple[str, ...] = ()) -> str:
    """Whose record it is: its log and place. Raises Wrong unless the proof holds."""
    if proof.get("format") != "recourse.proof.v1" or not has_its_members(proof):
        raise Wrong("this is no proof, or of another format")
    key = verifier_key(key_text)
    witnesses = [verifier_key(one, COSIGNATURE) for one in witness_texts]
    head = signed_head(proof["head"], key, witnesses)
    log, record, inclusion = proof["log"], proof["record"], proof["inclusion"]
    origin = f"{log['log_id']}/{log['topic']}/{int(log['partition'])}"
    if head.origin.partition("#")[0] != origin:
        raise Wrong("the head is of another log")
    if log_id_wanted is not None and log["log_id"] != log_id_wanted:
        raise Wrong("it is of the logs of another deployment than the one that was named")
    canonical = to_parsing_canonical_form(as_written(json.loads(record["schema"])))
    if fingerprint(canonical, "SHA-256") != record["fingerprint"]:
        raise Wrong("the schema is not the one the record was written with")
    value = base64.b64decode(record["value"], validate=True)
    if value[:1] != b"\0" or struct.unpack(">i", value[1:5])[0] <= 0 or avro_long(value[5:]) != record["seq"]:
        raise Wrong("the record says another place")
    parts = [octets(record["fingerprint"]), base64.b64decode(record["key"], validate=True), value[5:]]
    leaf = hashlib.sha256(b"\0" + b"".join(part(one) for one in parts)).digest()
    if leaf.hex() != record["leaf"] or inclusion["index"] != record["seq"] - 1 or inclusion["size"] != head.size:
        raise Wrong("the record is not the one the proof is about")
    path = [octets(step) for step in inclusion["path"]]
    if root_of_inclusion(leaf, int(inclusion["index"]), head.size, path) != head.root:
        raise Wrong("the record is not in the tree of the head")
    if proof["consistency"] is not None:
        check_extends(proof["consistency"], head, key, witnesses)
    generation = head.origin.partition("#")[2]
    return f"{origin}/{int(record['seq'])}{f' of generation {generation}' if generation else ''}"


def check_extends(consistency: dict, head: Head, key: Key, witnesses: list[Key]) -> None:
    """The tree of the head has that of an older one as its beginning."""
    older = signed_head(consistency["from"], key, witnesses)
    if older.origin != head.origin:
        raise Wrong("the older head is of another log")
    if not is_consistent(older, head, [octets(step) for step in consistency["path"]]):
        raise Wrong("the tree of the head does not extend that of the older one")


def main(proof_file: str, key_text: str, log_id: str | None = None, witness_texts: tuple[str, ...] = ()) -> int:
    try:
        with open(proof_file, encoding="utf-8") as file:
            print(f"ok: {check(json.load(file), key_text, log_id, witness_texts)}")
    except (Wrong, OSError, LookupError, ValueError, TypeError, AttributeError, OverflowError, struct.error) as problem:
        print(problem)
        return 1
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="check_proof.py", allow_abbrev=False)
    parser.add_argument("proof", metavar="PROOF.json")
    parser.add_argument("key", metavar="VERIFIER-KEY")
    parser.add_argument("log_id", metavar="LOG-ID", nargs="?")
    parser.add_argument("--witness-key", metavar="VERIFIER-KEY", action="append", default=[])
    named = parser.parse_args()
    sys.exit(main(named.proof, named.key, named.log_id, tuple(named.witness_key)))
