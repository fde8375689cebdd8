"""Signatures of records on wires and of batches in logs, in Python, with the standard library and cryptography.

    header     = "v1" SP key-id SP signed-at SP count SP base64 [ SP index SP base64 ]    ; of the record, or of the first of a batch
    wire-text  = "recourse-wire-v1" LF topic LF signed-at LF digest
    wires-text = "recourse-wires-v1" LF topic LF count LF signed-at LF root              ; with index and path
    log-text   = "recourse-log-v1" LF topic LF partition LF count LF signed-at LF digest
    digest     = hex of SHA-256 over (length key length value) of each record, lengths as uint32, big-endian
    root       = hex of the RFC 6962 root over the leaves SHA-256(0x00 length key length value)
    path       = the audit path of the record's leaf, 32 octets a hash, in base64
"""

import base64
import hashlib
import struct

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
