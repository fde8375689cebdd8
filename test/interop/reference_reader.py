"""Reference reader: the acceptance rule of Recourse logs, in Python, with the standard library and fastavro.

Grammar (all integers big-endian):

    value     = %x00 schema-id avro          ; schema-id is a uint32
    avro      = seq prev-hash rest           ; of log records; an Avro long, then 32 octets
    leaf      = SHA-256( %x00 part(fingerprint) part(key) part(avro) )
    genesis   = SHA-256( %x02 part("recourse.genesis.v1") part(log-id) part(topic) partition partition-count )
    part(x)   = length x                     ; length is a uint32
    fingerprint = SHA-256 of the writer schema's Parsing Canonical Form

Reading a partition from its start, a record is accepted iff seq = head.seq + 1 and prev_hash = head.hash. Every other
record is void and skipped. An unknown schema stops the reader; it never voids a record.

Run on a dump, it verifies the chain and prints the accepted records:

    python reference_reader.py DUMP.jsonl [KEYRING.json]

Where logs are signed, which is the default, a record that no signature of the log's owner covers is void, too: with a keyring this
is checked (signatures.py), without one it is not. It ends with 1 at an unknown schema, where a void record follows nothing that
was there before it (evidence.py), at damage, and where every record is void: then it is the log of another deployment, say, or not
the owner's, and nothing was read.

A dump holds one JSON object a line:
    {"log": {"log_id": …, "topic": …, "partition": …, "partition_count": …}}      first
    {"schema": {"id": …, "text": "<Avro JSON>"}}                                   one per schema, before its records
    {"record": {"offset": …, "key": …, "value": …, "signature": …}}                in offset order; key and value are base64, or
                                                                                   null where the record has none; signature is the
                                                                                   header of the record, left out where it has none
"""

import base64
import hashlib
import io
import json
import struct
import sys
from decimal import Decimal
from pathlib import Path
from typing import Callable, Iterable, Iterator, NamedTuple, Optional

import fastavro
from evidence import Trail
from fastavro.schema import fingerprint as fastavro_fingerprint
from fastavro.schema import to_parsing_canonical_form

FRAME_SIZE = 5
HASH_SIZE = 32
SAFE_LONG_MAX = 2**53 - 1
LONG_SIZE_MAX = 10
SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"


class Head(NamedTuple):
    """The last accepted record: its seq and its leaf hash; before the first, 0 and the genesis hash."""

    seq: int
    hash: bytes


class Verdict(NamedTuple):
    """'accepted' with the new head, 'void' with the old one, or 'unknown_schema' with the old one."""

    kind: str
    head: Head
    schema_id: Optional[int] = None


FingerprintOf = Callable[[int], Optional[bytes]]


def part(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def leaf_hash(fingerprint: bytes, key: bytes, avro: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + part(fingerprint) + part(key) + part(avro)).digest()


def genesis_hash(log_id: str, topic: str, partition: int, partition_count: int) -> bytes:
    names = part(b"recourse.genesis.v1") + part(log_id.encode()) + part(topic.encode())
    return hashlib.sha256(b"\x02" + names + struct.pack(">II", partition, partition_count)).digest()


def canonical_form(schema: object) -> str:
    return to_parsing_canonical_form(as_written(schema))


def as_written(schema: object) -> object:
    """A schema without what fastavro takes for its own notes of one (`__fastavro_parsed`, `__named_schemas`): whoever wrote the dump wrote those."""
    if isinstance(schema, dict):
        return {name: as_written(member) for name, member in schema.items() if not name.startswith("__")}
    return [as_written(item) for item in schema] if isinstance(schema, list) else schema


def schema_fingerprint(schema: object) -> bytes:
    return bytes.fromhex(fastavro_fingerprint(canonical_form(schema), "SHA-256"))


def canonical_json(value: object) -> str:
    """RFC 8785: members by the UTF-16 units of their names, numbers as ECMAScript writes them."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical_json(name)}:{canonical_json(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return ecmascript_number(float(value))
    return json.dumps(value, ensure_ascii=False)


def ecmascript_number(value: float) -> str:
    """Shortest digits, as Python finds them too, in the notation of ECMAScript's Number::toString."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, exponent = f"{Decimal(repr(abs(value))).normalize():e}".split("e")
    digits = mantissa.replace(".", "")
    point = int(exponent) + 1
    if 0 < point <= 21:
        whole = digits[:point].ljust(point, "0")
        return sign + whole + (f".{digits[point:]}" if len(digits) > point else "")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def effect_key(step: str, capability: str, target: Optional[str], args: object) -> str:
    """Key of an effect within its run: the same for every retry and replan, in every language."""
    def hashed(value: object) -> str:
        return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()
    return f"eff_{hashed([step, capability, target, hashed(args)])}"


def mutation_id(tenant: str, run_id: str, key: str) -> str:
    """Id the ledger gives the mutation of an effect."""
    counted = "".join(f"{len(part.encode('utf-16-be')) // 2}:{part}" for part in (tenant, run_id, key))
    return f"mut_{hashlib.sha256(counted.encode('utf-8')).hexdigest()[:32]}"


def merkle_root(leaves: list[bytes]) -> bytes:
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return hashlib.sha256(b"\x01" + merkle_root(leaves[:split]) + merkle_root(leaves[split:])).digest()


def murmur2(data: bytes) -> int:
    """Murmur2 with Kafka's seed, as a signed 32-bit integer."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = 0x9747B28C ^ len(data)
    whole = len(data) & ~3
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        k = (k * m) & mask
        k = ((k ^ (k >> 24)) * m) & mask
        h = ((h * m) & mask) ^ k
    rest = data[whole:]
    if rest:
        h = ((h ^ int.from_bytes(rest, "little")) * m) & mask
    h = ((h ^ (h >> 13)) * m) & mask
    h ^= h >> 15
    return h - 0x100000000 if h & 0x80000000 else h


def partition_for_key(key: bytes, partition_count: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partition_count


def schema_id_of(value: Optional[bytes]) -> Optional[int]:
    """Writer-schema id of a framed value, or None when the value carries no frame."""
    if value is None or len(value) < FRAME_SIZE or value[0] != 0:
        return None
    (schema_id,) = struct.unpack_from(">i", value, 1)
    return schema_id if schema_id > 0 else None


def read_head(value: Optional[bytes]) -> Optional[tuple[int, bytes]]:
    """seq and prev_hash of a framed log record, without its schema; None when the bytes cannot begin one."""
    if value is None or schema_id_of(value) is None:
        return None
    zigzag, at = 0, FRAME_SIZE
    while True:
        if at >= len(value) or at - FRAME_SIZE >= LONG_SIZE_MAX:
            return None
        octet = value[at]
        zigzag |= (octet & 0x7F) << (7 * (at - FRAME_SIZE))
        at += 1
        if octet < 0x80:
            break
    seq = (zigzag >> 1) ^ -(zigzag & 1)
    if at + HASH_SIZE > len(value) or abs(seq) > SAFE_LONG_MAX:
        return None
    return seq, value[at : at + HASH_SIZE]


def read_record(head: Head, key: Optional[bytes], value: Optional[bytes], fingerprint_of: FingerprintOf) -> Verdict:
    """The acceptance rule. A void record needs no schema, so an unknown one in it stops nobody."""
    record_head = read_head(value)
    if key is None or value is None or record_head != (head.seq + 1, head.hash):
        return Verdict("void", head)
    schema_id = schema_id_of(value)
    fingerprint = fingerprint_of(schema_id) if schema_id is not None else None
    if fingerprint is None:
        return Verdict("unknown_schema", head, schema_id)
    return Verdict("accepted", Head(head.seq + 1, leaf_hash(fingerprint, key, value[FRAME_SIZE:])))


def read_partition(start: Head, records: Iterable[tuple[Optional[bytes], Optional[bytes]]], fingerprint_of: FingerprintOf) -> Iterator[Verdict]:
    """Judges (key, value) pairs in offset order; ends after an unknown schema."""
    head = start
    for key, value in records:
        verdict = read_record(head, key, value, fingerprint_of)
        yield verdict
        if verdict.kind == "unknown_schema":
            return
        head = verdict.head


def without_logical_types(schema: object) -> object:
    """Instants stay numbers: an instant may be any long, and fastavro would make datetimes, of which none is beyond the year 9999."""
    if isinstance(schema, dict):
        return {name: without_logical_types(member) for name, member in schema.items() if name != "logicalType"}
    return [without_logical_types(item) for item in schema] if isinstance(schema, list) else schema


def parsed(schema: object) -> object:
    return fastavro.parse_schema(without_logical_types(as_written(schema)))


def decode(schema: object, value: bytes) -> object:
    """Body of a framed value under its writer schema. Raises ValueError when bytes are left over."""
    stream = io.BytesIO(value[FRAME_SIZE:])
    body = fastavro.schemaless_reader(stream, parsed(schema), None)
    left = len(stream.read())
    if left:
        raise ValueError(f"{left} octets after the record")
    return body


def encode(schema: object, schema_id: int, body: object) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, parsed(schema), body)
    return struct.pack(">bI", 0, schema_id) + stream.getvalue()


def read_dump(lines: Iterable[str], keyring: Optional[dict] = None, shown: Optional[list[int]] = None) -> Iterator[tuple[int, Verdict, Optional[object]]]:
    """Offset, verdict and, where accepted, the decoded body of every record of a dump; `shown` gets the offsets that are evidence in the end.

    Raises ValueError at what no dump holds: a second log, a record without one or behind its place, or what is no base64."""
    head, schemas, trail, last = None, {}, None, -1
    entries = map(json.loads, filter(str.strip, lines))
    for entry in entries if keyring is None else vouched_entries(list(entries), keyring):
        if "log" in entry:
            if head is not None:
                raise ValueError("the dump names its log twice")
            head = Head(0, genesis_hash(**entry["log"]))
            trail = Trail(head)
        elif "schema" in entry:
            schema = json.loads(entry["schema"]["text"])
            schemas[entry["schema"]["id"]] = (schema, schema_fingerprint(schema))
        else:
            record = entry["record"]
            if head is None or record["offset"] <= last:
                raise ValueError(f"offset {record['offset']} does not lie behind what is before it")
            last = record["offset"]
            key, value = (None if record[name] is None else base64.b64decode(record[name], validate=True) for name in ("key", "value"))
            verdict = read_record(head, key, value, lambda schema_id: schemas.get(schema_id, (None, None))[1])
            accepted = verdict.kind == "accepted"
            body = decode(schemas[schema_id_of(value)][0], value) if accepted else None
            if accepted:
                trail.accept(verdict.head, body)
            elif verdict.kind == "void" and (keyring is None or value is not None):
                trail.take_void(last, *links_of(key, value, schemas))
            yield last, verdict, body
            if verdict.kind == "unknown_schema":
                break
            head = verdict.head
    if shown is not None and trail is not None:
        shown.extend(trail.evidence)


def links_of(key: Optional[bytes], value: Optional[bytes], schemas: dict) -> tuple[Optional[Head], Optional[Head]]:
    """The head that a record says it follows, and the one that it would be; None of what cannot be told."""
    claimed = None if key is None else read_head(value)
    if claimed is None:
        return None, None
    seq, prev_hash = claimed
    _, fingerprint = schemas.get(schema_id_of(value), (None, None))
    return Head(seq - 1, prev_hash), None if fingerprint is None else Head(seq, leaf_hash(fingerprint, key, value[FRAME_SIZE:]))


def vouched_entries(entries: list[dict], keyring: dict) -> Iterator[dict]:
    """Entries of a dump; records that the owner of the log did not sign have lost key and value, which makes them void."""
    from signatures import vouched

    log = next(entry["log"] for entry in entries if "log" in entry)
    topics = json.loads((SCHEMAS / "topics.json").read_text(encoding="utf-8"))["topics"]
    owner = next((topic["written_by"] for topic in topics if topic["name"] == log["topic"]), None)
    if owner is None:
        raise ValueError(f"{log['topic']} is no log of ours: nobody is known to sign it")
    records = [entry["record"] for entry in entries if "record" in entry]
    yield from (entry for entry in entries if "record" not in entry)
    yield from ({"record": record} for record in vouched(records, log, owner, keyring["keys"]))


def main(path: str, keyring_path: Optional[str] = None) -> int:
    keyring = None if keyring_path is None else json.loads(Path(keyring_path).read_text(encoding="utf-8"))
    counts = {"accepted": 0, "void": 0, "unknown_schema": 0}
    last, shown, damage = None, [], None
    with open(path, encoding="utf-8") as lines:
        try:
            for offset, verdict, body in read_dump(lines, keyring, shown):
                counts[verdict.kind] += 1
                last = verdict.head
                if body is not None:
                    print(json.dumps({"offset": offset, "seq": verdict.head.seq, "hash": verdict.head.hash.hex(), "body": body}, default=as_text))
        except ValueError as problem:
            damage = problem
    print(json.dumps({"head": None if last is None else {"seq": last.seq, "hash": last.hash.hex()}, **counts}), file=sys.stderr)
    if damage is not None:
        print(f"the dump is damaged: {damage}", file=sys.stderr)
    elif counts["accepted"] == 0 and counts["void"] > 0:
        print("every record is void: is it the log that it says to be, with its log id, partition count and schemas, and signed by its owner?", file=sys.stderr)
    elif shown:
        print(f"the log is not sound: what follows nothing that was there before it lies at the offsets {', '.join(map(str, shown[:20]))}", file=sys.stderr)
    elif counts["unknown_schema"] == 0:
        return 0
    return 1


def as_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: reference_reader.py DUMP.jsonl [KEYRING.json]")
    sys.exit(main(*sys.argv[1:]))
