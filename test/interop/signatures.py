"""Signatures of records on wires and of batches in logs, in Python, with the standard library and cryptography.

    header    = "v1" SP key-id SP signed-at SP count SP base64    ; of the record, or of the first record of a batch
    wire-text = "recourse-wire-v1" LF topic LF signed-at LF digest
    log-text  = "recourse-log-v1" LF topic LF partition LF count LF signed-at LF digest
    digest    = hex of SHA-256 over (length key length value) of each record, lengths as uint32, big-endian
"""

import base64
import hashlib
import struct

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def signed_text(topic, records, header, partition=None):
    """What a signature is over: one record of a wire, or the batch of a log that begins with it; records are (key, value)."""
    _, _, signed_at, count, _ = header.split(" ")
    digest = hashlib.sha256()
    for part in (part for record in records for part in record):
        digest.update(struct.pack(">I", len(part)) + part)
    where = ["recourse-wire-v1", topic] if partition is None else ["recourse-log-v1", topic, str(partition), count]
    return "\n".join([*where, signed_at, digest.hexdigest()])


def sign(private_key, text):
    return base64.b64encode(Ed25519PrivateKey.from_private_bytes(private_key).sign(text.encode())).decode()


def is_signed_by(public_key, text, header):
    signature = base64.b64decode(header.split(" ")[4])
    try:
        Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key)).verify(signature, text.encode())
        return True
    except InvalidSignature:
        return False
