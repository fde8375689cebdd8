"""Reads recourse.rollback-notifications with confluent-kafka and fastavro alone, and prints the accepted records as JSON.

    python consumer.py --brokers 127.0.0.1:9092 --registry http://127.0.0.1:8080/apis/ccompat/v7 --log-id LOG_ID [--follow]

The topic may hold void records: late packets, repeated batches, writes of a former owner. A consumer that does not apply the
acceptance rule acts on them. So each partition is read from its start, and a record counts iff its seq is one more than that
of the last accepted record and its prev_hash is that record's hash. An unknown schema stops the reader (exit 1); a consumer that
runs for long keeps (offset, seq, hash) per partition and goes on from there.

Without --follow it ends when every partition has been read to the end seen at start.
"""

import argparse
import hashlib
import io
import json
import struct
import sys
import time
import urllib.error
import urllib.request

import fastavro
from confluent_kafka import Consumer, KafkaError, TopicPartition
from fastavro.schema import fingerprint, to_parsing_canonical_form

TOPIC = "recourse.rollback-notifications"
FRAME_SIZE = 5
HASH_SIZE = 32
TIMEOUT_S = 10


def part(data):
    return struct.pack(">I", len(data)) + data


def genesis_hash(log_id, topic, partition, partition_count):
    names = part(b"recourse.genesis.v1") + part(log_id.encode()) + part(topic.encode())
    return hashlib.sha256(b"\x02" + names + struct.pack(">II", partition, partition_count)).digest()


def leaf_hash(schema_fingerprint, key, avro):
    return hashlib.sha256(b"\x00" + part(schema_fingerprint) + part(key) + part(avro)).digest()


def read_head(value):
    """seq and prev_hash, read without a schema; None when the bytes cannot begin a log record."""
    if value is None or len(value) < FRAME_SIZE or struct.unpack_from(">bi", value)[0] != 0 or struct.unpack_from(">bi", value)[1] <= 0:
        return None
    zigzag, shift, at = 0, 0, FRAME_SIZE
    while at < len(value) and shift < 70:
        octet = value[at]
        zigzag |= (octet & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if octet < 0x80:
            prev_hash = value[at : at + HASH_SIZE]
            return ((zigzag >> 1) ^ -(zigzag & 1), prev_hash) if len(prev_hash) == HASH_SIZE else None
    return None


class Schemas:
    """Writer schemas by id, each with its fingerprint, fetched once."""

    def __init__(self, registry):
        self.registry = registry.rstrip("/")
        self.known = {}

    def get(self, schema_id):
        if schema_id not in self.known:
            with urllib.request.urlopen(f"{self.registry}/schemas/ids/{schema_id}", timeout=TIMEOUT_S) as answer:
                schema = json.loads(json.load(answer)["schema"])
            digest = bytes.fromhex(fingerprint(to_parsing_canonical_form(schema), "SHA-256"))
            self.known[schema_id] = (fastavro.parse_schema(schema), digest)
        return self.known[schema_id]


class Partition:
    """The accepted chain of one partition."""

    def __init__(self, log_id, topic, number, count):
        self.number, self.seq, self.hash = number, 0, genesis_hash(log_id, topic, number, count)

    def accept(self, key, value, schemas):
        """The record's type and body when it is accepted, else None."""
        if key is None or read_head(value) != (self.seq + 1, self.hash):
            return None
        (schema_id,) = struct.unpack_from(">I", value, 1)
        schema, digest = schemas.get(schema_id)
        body = fastavro.schemaless_reader(io.BytesIO(value[FRAME_SIZE:]), schema, None)
        self.seq, self.hash = self.seq + 1, leaf_hash(digest, key, value[FRAME_SIZE:])
        return schema["name"].rsplit(".", 1)[-1], body


def as_json(value):
    if isinstance(value, bytes):
        return value.hex()
    return round(value.timestamp() * 1000)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", required=True, help="host:port[,host:port]")
    parser.add_argument("--registry", required=True, help="Confluent-compatible schema registry, with its path")
    parser.add_argument("--log-id", required=True, help="log id of the installation; genesis hashes commit to it")
    parser.add_argument("--topic", default=TOPIC, help=f"another log (default {TOPIC})")
    parser.add_argument("--follow", action="store_true", help="go on when the end is reached")
    options = parser.parse_args(argv)
    # The group is never joined: partitions are assigned by hand and no offset is committed.
    consumer = Consumer({"bootstrap.servers": options.brokers, "group.id": "recourse-python-consumer", "enable.auto.commit": False, "auto.offset.reset": "error"})
    try:
        return read(consumer, options, Schemas(options.registry))
    except urllib.error.URLError as error:
        print(f"unknown schema, or no registry: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    finally:
        consumer.close()


def read(consumer, options, schemas):
    described = consumer.list_topics(options.topic, timeout=TIMEOUT_S).topics[options.topic]
    if described.error is not None or not described.partitions:
        print(f"{options.topic}: {described.error or 'has no partitions'}", file=sys.stderr)
        return 1
    count = len(described.partitions)
    chains = {number: Partition(options.log_id, options.topic, number, count) for number in described.partitions}
    ends = {number: consumer.get_watermark_offsets(TopicPartition(options.topic, number), timeout=TIMEOUT_S)[1] for number in chains}
    consumer.assign([TopicPartition(options.topic, number, 0) for number in chains])
    pending = {number for number, end in ends.items() if end > 0}
    quiet_since = time.monotonic()
    while pending or options.follow:
        message = consumer.poll(0.5)
        if message is None:
            if pending and time.monotonic() - quiet_since > 3 * TIMEOUT_S:
                print(f"no answer for partitions {sorted(pending)}", file=sys.stderr)
                return 1
            continue
        quiet_since = time.monotonic()
        if message.error() is not None:
            if message.error().code() == KafkaError._PARTITION_EOF:
                continue
            print(message.error(), file=sys.stderr)
            return 1
        chain = chains[message.partition()]
        accepted = chain.accept(message.key(), message.value(), schemas)
        if accepted is not None:
            kind, body = accepted
            print(json.dumps({"type": kind, "partition": chain.number, "offset": message.offset(), "seq": chain.seq, "body": body}, default=as_json), flush=True)
        if message.offset() + 1 >= ends[message.partition()]:
            pending.discard(message.partition())
    return 0


if __name__ == "__main__":
    sys.exit(main())
