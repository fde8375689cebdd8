"""Signatures of records on wires and of batches in logs, in Python, with the standard library and cryptography.

    header     = "v1" SP key-id SP signed-at SP count SP base64 [ SP index SP base64 ]    ; of the record, or of the first of a batch
    wire-text  = "recourse-wire-v1" LF topic LF signed-at LF digest
    wires-text = "recourse-wires-v1" LF topic LF count LF signed-at LF root              ; with index and path
    log-text   = "recourse-log-v1" LF topic LF partition LF count LF signed-at LF digest
    digest     = hex of SHA-256 over (length key length value) of each record, lengths as uint32, big-endian
    root       = hex of the RFC 6962 root over the leaves SHA-256(0x00 length key length value)
    path       = the audit path of the record's leaf, 32 octets a hash, in base64

A batch of a log carries its signature on its first record, and lies in one piece. Its records count where the key is that of a
service, of the one that owns the log, and was good at signed-at; all others of the log are void. The keyring is that of
docs/guides/keys.md.
"""

import base64
import hashlib
import re
import struct
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def signed_text(topic, records, header, partition=None):
    """What a signature is over: one record of a wire, or the batch of a log that begins with it; records are (key, value)."""
    _, _, signed_at, count, _, *place = header.split(" ")
    if place:
        root = root_from(leaf_of(*records[0]), int(place[0]), int(count), base64.b64decode(place[1]))
        return "\n".join(["recourse-wires-v1", topic, count, signed_at, root.hex()])
    digest = hashlib.sha256()
    for part in (part for record in records for part in record):
        digest.update(struct.pack(">I", len(part)) + part)
    where = ["recourse-wire-v1", topic] if partition is None else ["recourse-log-v1", topic, str(partition), count]
    return "\n".join([*where, signed_at, digest.hexdigest()])


def leaf_of(key, value):
    return hashlib.sha256(b"\0" + b"".join(struct.pack(">I", len(part)) + part for part in (key, value))).digest()


def root_from(leaf, index, size, path):
    """The root of the tree of this size whose index-th leaf has this audit path (RFC 9162, 2.1.3.2)."""
    node, last, root = index, size - 1, leaf
    for at in range(0, len(path), 32):
        step = path[at : at + 32]
        if node % 2 == 1 or node == last:
            root = hashlib.sha256(b"\1" + step + root).digest()
            while node % 2 == 0 and node != 0:
                node, last = node // 2, last // 2
        else:
            root = hashlib.sha256(b"\1" + root + step).digest()
        node, last = node // 2, last // 2
    assert last == 0, "the path is too short or too long"
    return root


def sign(private_key, text):
    return base64.b64encode(Ed25519PrivateKey.from_private_bytes(private_key).sign(text.encode())).decode()


def is_signed_by(public_key, text, header):
    signature = base64.b64decode(header.split(" ")[4])
    try:
        Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key)).verify(signature, text.encode())
        return True
    except InvalidSignature:
        return False


def vouched(records, log, owner, keys):
    """Records of a partition of a log as a dump has them, from its start; without key and value, and so void, where the owner signed none."""
    known, at = {key["id"]: key for key in keys}, 0
    while at < len(records):
        size = batch_size(records[at:], log, owner, known)
        yield from records[at : at + size] if size else [{**records[at], "key": None, "value": None}]
        at += max(1, size)


def batch_size(records, log, owner, known):
    """How many records from here on one signature of the owner covers; 0 where none begins."""
    header = records[0].get("signature") or ""
    said = re.fullmatch(r"v1 (\S+) (\d{1,16}) (\d{1,4}) (?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}==", header)
    if said is None or said[1] not in known:
        return 0
    key, signed_at, count = known[said[1]], int(said[2]), int(said[3])
    batch = records[:count]
    is_whole = 1 <= count == len(batch) and batch[-1]["offset"] == batch[0]["offset"] + count - 1
    if not is_whole or not is_owners(key, owner) or not was_good(key, signed_at):
        return 0
    octets = [tuple(base64.b64decode(record[name] or "", validate=True) for name in ("key", "value")) for record in batch]
    text = signed_text(log["topic"], octets, header, log["partition"])
    return count if is_signed_by(key["public_key"], text, header) else 0


def is_owners(key, owner):
    roles = [key["speaks_as"]] if isinstance(key["speaks_as"], str) else key["speaks_as"]
    return "service" in roles and not {"*", owner}.isdisjoint(key["names"])


def was_good(key, at):
    """Was it valid then, epoch milliseconds? What was signed before a key was revoked stays true."""
    begins, *ends = (None if key.get(name) is None else datetime.fromisoformat(key[name]).timestamp() * 1000 for name in ("valid_from", "valid_until", "revoked_at"))
    return (begins is None or at >= begins) and all(end is None or at < end for end in ends)
