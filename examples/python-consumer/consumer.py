"""Reads recourse.rollback-notifications with confluent-kafka and fastavro alone, and prints the accepted records as JSON.

    python consumer.py --brokers 127.0.0.1:9092 --registry http://127.0.0.1:8080/apis/ccompat/v7 --log-id LOG_ID [--follow]
        [--consumer NAME --scope TENANT/AGENT/RUN/SUBJECT] [--state FILE]

The topic may hold void records: late packets, repeated batches, writes of a former owner. A consumer that does not apply the
acceptance rule acts on them. So each partition is read from its start, and a record counts iff its seq is one more than that
of the last accepted record and its prev_hash is that record's hash. An unknown schema stops the reader (exit 1), and so
does a partition of which nothing is accepted: its reader is wrong. A consumer that
runs for long keeps (offset, seq, hash) per partition and goes on from there.

Without --follow it ends when every partition has been read to the end seen at start.

A record names one commit, or several of a run as its members; one that names nobody stops the reader (exit 1).

With --consumer only commits in the scope are printed: of several in one record those that are. How a rollback ended
(RollbackSettled) names commits without their agent and subject: it is printed for those whose rollback was. A rollback that
waits for this consumer is acknowledged once it was printed: a RollbackAcknowledged on recourse.consumer-acks, keyed by the run, one for each
commit. With --state the place of each partition is kept in a file and the next start goes on there; it is written after all
acknowledgements of a record, so that one may be sent twice: the same again counts once.
"""

import argparse
import hashlib
import io
import json
import os
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import fastavro
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from fastavro.schema import fingerprint, to_parsing_canonical_form

TOPIC = "recourse.rollback-notifications"
ACKS_TOPIC = "recourse.consumer-acks"
ACK = "recourse.consumers.RollbackAcknowledged"
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
        self.offered = 0
        # Commits in the scope whose rollback was told: later records name them alone.
        self.told = set()

    def resume(self, place):
        """Goes on behind the last record that was handled."""
        self.seq, self.hash, self.told = place["seq"], bytes.fromhex(place["hash"]), set(place.get("told", []))

    def voids_everything(self):
        """Nothing of what was read is accepted: the reader is wrong, not the log."""
        return self.seq == 0 and self.offered > 0

    def accept(self, key, value, schemas):
        """The record's type and body when it is accepted, else None."""
        self.offered += 1
        if key is None or read_head(value) != (self.seq + 1, self.hash):
            return None
        (schema_id,) = struct.unpack_from(">I", value, 1)
        schema, digest = schemas.get(schema_id)
        body = fastavro.schemaless_reader(io.BytesIO(value[FRAME_SIZE:]), schema, None)
        self.seq, self.hash = self.seq + 1, leaf_hash(digest, key, value[FRAME_SIZE:])
        return schema["name"].rsplit(".", 1)[-1], body


def in_scope(scope, body):
    """Does a scope, a prefix of tenant/agent/run/subject, cover a commit? `*` stands for one part; a subject has parts of its own."""
    parts = [body["tenant"], body.get("agent_id", ""), body["run_id"], *(body.get("subject_ref") or "").split("/")]
    asked = scope.split("/")
    return len(asked) <= len(parts) and all(part in ("*", found) for part, found in zip(asked, parts))


def commit_of(body):
    return f"{body['tenant']}/{body['run_id']}/{body['mutation_id']}"


def concerns(scope, told, body):
    """Is a commit in a scope? One that is named without its agent and subject is, when its rollback was told there."""
    return in_scope(scope, body) or ("agent_id" not in body and commit_of(body) in told)


def within(scope, body, told=frozenset()):
    """The record with its members in a scope; None when it names no commit there. Raises ValueError when it names nobody at all."""
    if "members" not in body:
        return body if concerns(scope, told, body) else None
    if not body["members"]:
        raise ValueError(f"the record {body['seq']} names nobody")
    members = [member for member in body["members"] if concerns(scope, told, {**body, **member})]
    return {**body, "members": members} if members else None


class Acks:
    """Says that rollbacks were applied."""

    def __init__(self, brokers, registry, consumer):
        url = f"{registry.rstrip('/')}/subjects/{urllib.parse.quote(f'{ACKS_TOPIC}-{ACK}', safe='')}/versions/latest"
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            found = json.load(answer)
        self.schema_id, self.schema, self.consumer = found["id"], fastavro.parse_schema(json.loads(found["schema"])), consumer
        # Java's murmur2: the acknowledgement has to lie on the partition of its run.
        self.producer = Producer({"bootstrap.servers": brokers, "partitioner": "murmur2_random", "acks": "all", "enable.idempotence": True})

    def send(self, notice, applied_at):
        """Answers each rollback of a notice that waits for this consumer, in the order of its members."""
        for body in acknowledgements(self.consumer, notice, applied_at):
            self.producer.produce(ACKS_TOPIC, key=body["run_id"].encode(), value=framed(self.schema_id, self.schema, body))
        if self.producer.flush(3 * TIMEOUT_S) > 0:
            raise RuntimeError("the broker did not take the acknowledgements")


def acknowledgements(consumer, notice, applied_at):
    rollbacks = [{**notice, **member} for member in notice["members"] if consumer in member["consumers"]]
    return [acknowledgement(consumer, rollback, applied_at) for rollback in rollbacks]


def acknowledgement(consumer, rollback, applied_at):
    """The answer to a rollback. Name in `derived` and `emissions` what was made of the commit and has reached users."""
    names = [consumer, rollback["run_id"], rollback["mutation_id"], rollback["rollback_id"]]
    event_id = "ack_" + hashlib.sha256(json.dumps(names).encode()).hexdigest()[:32]
    return {
        "event_id": event_id, "tenant": rollback["tenant"], "run_id": rollback["run_id"], "mutation_id": rollback["mutation_id"], "rollback_id": rollback["rollback_id"],
        "consumer": consumer, "applied_at": applied_at, "derived": [], "emissions": [],
    }


def framed(schema_id, schema, body):
    stream = io.BytesIO(struct.pack(">bI", 0, schema_id))
    stream.seek(0, io.SEEK_END)
    fastavro.schemaless_writer(stream, schema, body)
    return stream.getvalue()


def load_state(path):
    if path is None or not os.path.exists(path):
        return {"places": {}}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save_state(path, chains):
    """Written whole beside the old one, then put in its place."""
    if path is None:
        return
    places = {str(number): {"offset": offset, "seq": chain.seq, "hash": chain.hash.hex(), "told": sorted(chain.told)} for number, (chain, offset) in chains.items()}
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump({"places": places}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


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
    parser.add_argument("--consumer", help="acknowledge under this name, as its subscription has it")
    parser.add_argument("--scope", default="*", help="prefix of tenant/agent/run/subject (default: everything)")
    parser.add_argument("--state", help="file that keeps the place of each partition")
    options = parser.parse_args(argv)
    # The group is never joined: partitions are assigned by hand and no offset is committed. Every record is read, also of transactions
    # that are open or were aborted: the chain says what counts, and every reader has to see the same.
    consumer = Consumer({"bootstrap.servers": options.brokers, "group.id": "recourse-python-consumer", "enable.auto.commit": False, "auto.offset.reset": "error", "isolation.level": "read_uncommitted"})
    try:
        return read(consumer, options, Schemas(options.registry))
    except (ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
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
    state = load_state(options.state)
    chains = {number: Partition(options.log_id, options.topic, number, count) for number in described.partitions}
    offsets = {number: state["places"].get(str(number), {"offset": 0})["offset"] for number in chains}
    for number, place in state["places"].items():
        chains[int(number)].resume(place)
    acks = None if options.consumer is None else Acks(options.brokers, options.registry, options.consumer)
    ends = {number: consumer.get_watermark_offsets(TopicPartition(options.topic, number), timeout=TIMEOUT_S)[1] for number in chains}
    consumer.assign([TopicPartition(options.topic, number, offsets[number]) for number in chains])
    pending = {number for number, end in ends.items() if end > offsets[number]}
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
        take(message, chains[message.partition()], schemas, acks, options)
        offsets[message.partition()] = message.offset() + 1
        save_state(options.state, {number: (chain, offsets[number]) for number, chain in chains.items()})
        if message.offset() + 1 >= ends[message.partition()]:
            pending.discard(message.partition())
            chain = chains[message.partition()]
            if chain.voids_everything():
                print(f"partition {chain.number}: all {chain.offered} records are void: check --log-id, the topic, its partition count, and the fingerprints", file=sys.stderr)
                return 1
    return 0


def take(message, chain, schemas, acks, options):
    """Applies the acceptance rule to one record, prints what is in the scope, and acknowledges it where somebody waits for that."""
    accepted = chain.accept(message.key(), message.value(), schemas)
    if accepted is None:
        return
    kind, body = accepted
    body = within(options.scope if options.consumer is not None else "*", body, chain.told)
    if body is None:
        return
    if kind == "RollbackAnnounced" and options.consumer is not None:
        chain.told.update(commit_of({**body, **member}) for member in body["members"])
    print(json.dumps({"type": kind, "partition": chain.number, "offset": message.offset(), "seq": chain.seq, "body": body}, default=as_json), flush=True)
    if acks is not None and kind == "RollbackAnnounced":
        acks.send(body, round(time.time() * 1000))


if __name__ == "__main__":
    sys.exit(main())
