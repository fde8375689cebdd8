"""Reads recourse.rollback-notifications with confluent-kafka and fastavro alone, and prints the accepted records as JSON.

    python consumer.py --brokers 127.0.0.1:9092 --registry http://127.0.0.1:8080/apis/ccompat/v7 --log-id LOG_ID [--follow]
        [--consumer NAME --scope TENANT/AGENT/RUN/SUBJECT --signing-key FILE --key-id ID] [--state FILE] [--kafka-config FILE]

The topic may hold void records: late packets, repeated batches, writes of a former owner. A consumer that does not apply the
acceptance rule acts on them. So each partition is read from its start, and a record counts iff its seq is one more than that
of the last accepted record and its prev_hash is that record's hash. An unknown schema stops the reader (exit 1). No signature is
checked: whoever may write to the topic is believed, so let Kafka keep others from it, or check them as docs/guides/keys.md says.

Without --follow it ends when every partition has been read to the end seen at start. Where nothing of a partition is accepted, the
reader is wrong, as a rule: it ends with exit 1 then. With --follow it says so once and reads on, as something may come.

A record names one commit, or several of a run as its members; one that names nobody stops the reader (exit 1).

With --consumer only commits in the scope are printed: of several in one record those that are. How a rollback ended
(RollbackSettled) names commits without their agent and subject: it is printed for those whose rollback was. A rollback that
waits for this consumer is acknowledged once it was printed: a RollbackAcknowledged on recourse.consumer-acks, keyed by the run, one for each
commit. Where wires are strict, which is the default, it counts only with a signature: --signing-key and --key-id.

With --state the place in each partition is kept in a file, and the next start goes on there. The file is written after what was
fetched together was printed and acknowledged, and after a failure for what came before it. Where the process is killed, this may be
done twice: the same answer again counts once. A place is that of a scope: one that is widened begins anew, and prints no rollback
again that was told before.

Where the record that was handled last does not stand in its place, the log was restored from an older copy, and the reader stops
(LOG_CUT, exit 1). Take "places" out of the file to have it read anew; with "told" in it no rollback is printed twice, and all are
acknowledged again.

A FILE of --kafka-config holds settings of librdkafka, `name=value` a line: security.protocol, sasl.username, ssl.ca.location. The
reader names the group that `group.id` says there, else that of `sasl.username`: a secure stack lets a consumer join no other.
"""

import argparse
import base64
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
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from fastavro.schema import fingerprint, to_parsing_canonical_form

TOPIC = "recourse.rollback-notifications"
ACKS_TOPIC = "recourse.consumer-acks"
ACK = "recourse.consumers.RollbackAcknowledged"
FRAME_SIZE = 5
HASH_SIZE = 32
TIMEOUT_S = 10
FETCHED_TOGETHER = 500
# What a broker says of an offset at which nothing lies.
ENDS_BEFORE = (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)


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
            self.known[schema_id] = (fastavro.parse_schema(without_logical_types(schema)), digest)
        return self.known[schema_id]


def without_logical_types(schema):
    """Instants stay numbers: an instant may be any long, and fastavro would make datetimes, of which none is beyond the year 9999."""
    if isinstance(schema, dict):
        return {name: without_logical_types(member) for name, member in schema.items() if name != "logicalType"}
    return [without_logical_types(item) for item in schema] if isinstance(schema, list) else schema


class Partition:
    """The accepted chain of one partition."""

    def __init__(self, log_id, topic, number, count):
        self.number, self.seq, self.hash = number, 0, genesis_hash(log_id, topic, number, count)
        # Offset of the last accepted record; whether another followed since on a record that was never read.
        self.offset, self.is_overtaken = None, False
        self.offered = 0

    def resume(self, place):
        """Goes on at the last record that was handled."""
        self.seq, self.hash, self.offset = place["seq"], bytes.fromhex(place["hash"]), place["offset"]

    def place(self):
        return {"offset": self.offset, "seq": self.seq, "hash": self.hash.hex()}

    def next_offset(self):
        return 0 if self.offset is None else self.offset + 1

    def all_void(self):
        """What to check where nothing of what was read is accepted: as a rule the reader is wrong, not the log. None where something is."""
        if self.seq > 0 or self.offered == 0:
            return None
        return f"partition {self.number}: all {self.offered} records are void: check --log-id, the topic, its partition count, and the fingerprints"

    def accept(self, offset, key, value, schemas):
        """The record's type and body when it is accepted, else None."""
        self.offered += 1
        head = read_head(value)
        if key is None or head != (self.seq + 1, self.hash):
            self.is_overtaken = self.is_overtaken or (self.seq > 0 and head is not None and head[0] > self.seq)
            return None
        (schema_id,) = struct.unpack_from(">I", value, 1)
        schema, digest = schemas.get(schema_id)
        body = fastavro.schemaless_reader(io.BytesIO(value[FRAME_SIZE:]), schema, None)
        self.seq, self.hash, self.offset = self.seq + 1, leaf_hash(digest, key, value[FRAME_SIZE:]), offset
        return schema["name"].rsplit(".", 1)[-1], body

    def was(self, key, value, schemas):
        """Is this the last accepted record?"""
        head = read_head(value)
        if key is None or head is None or head[0] != self.seq:
            return False
        _, digest = schemas.get(struct.unpack_from(">I", value, 1)[0])
        return leaf_hash(digest, key, value[FRAME_SIZE:]) == self.hash


def stands(chain, looker, topic, schemas):
    """Looks whether the record that was handled last still stands in its place."""
    looker.assign([TopicPartition(topic, chain.number, chain.offset)])
    message = looker.poll(3 * TIMEOUT_S)
    looker.unassign()
    if message is None:
        raise RuntimeError(f"no answer for partition {chain.number}")
    error = message.error()
    if error is not None and error.code() not in ENDS_BEFORE:
        raise RuntimeError(str(error))
    return error is None and message.offset() == chain.offset and chain.was(message.key(), message.value(), schemas)


def assure(chain, looker, topic, schemas):
    """Raises ValueError when the record that was handled last is gone."""
    if not stands(chain, looker, topic, schemas):
        raise ValueError(f"LOG_CUT: record {chain.seq} of partition {chain.number}, which was handled last, is gone: the log was restored from an older copy")
    chain.is_overtaken = False


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


def untold(told, body):
    """The record with its members whose rollback was not told; None when it was of all."""
    members = [member for member in body["members"] if commit_of({**body, **member}) not in told]
    return {**body, "members": members} if members else None


class Acks:
    """Says that rollbacks were applied."""

    def __init__(self, options, settings):
        url = f"{options.registry.rstrip('/')}/subjects/{urllib.parse.quote(f'{ACKS_TOPIC}-{ACK}', safe='')}/versions/latest"
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            found = json.load(answer)
        self.schema_id, self.schema, self.consumer = found["id"], fastavro.parse_schema(json.loads(found["schema"])), options.consumer
        self.private_key, self.key_id = options.signing_key and signing_key(options.signing_key), options.key_id
        # Java's murmur2: the acknowledgement has to lie on the partition of its run.
        self.producer = Producer({**settings, "partitioner": "murmur2_random", "acks": "all", "enable.idempotence": True})

    def send(self, notice, applied_at):
        """Answers each rollback of a notice that waits for this consumer, in the order of its members."""
        refused = []
        for body in acknowledgements(self.consumer, notice, applied_at):
            key, value = body["run_id"].encode(), framed(self.schema_id, self.schema, body)
            headers = [] if self.private_key is None else [signature(self.private_key, self.key_id, ACKS_TOPIC, key, value)]
            self.producer.produce(ACKS_TOPIC, key=key, value=value, headers=headers, on_delivery=lambda error, _: refused.append(error) if error else None)
        if self.producer.flush(3 * TIMEOUT_S) > 0 or refused:
            raise RuntimeError(f"the broker did not take the acknowledgements: {refused[0] if refused else 'no answer'}")


def signing_key(path):
    """The Ed25519 key in a file. Needs the package cryptography. Raises ValueError or OSError when it cannot sign."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise ValueError(f"--signing-key needs the package cryptography: {error}") from error
    with open(path, "rb") as file:
        pem = file.read()
    try:
        private_key = load_pem_private_key(pem, None)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise ValueError(f"{path} is no private key in PEM without a passphrase") from error
    if not isinstance(private_key, Ed25519PrivateKey):
        raise ValueError(f"{path} is no Ed25519 key")
    return private_key


def signature(private_key, key_id, topic, key, value):
    """The header that says who sends a record (docs/guides/keys.md)."""
    now, digest = round(time.time() * 1000), hashlib.sha256(part(key) + part(value)).hexdigest()
    signed = private_key.sign(f"recourse-wire-v1\n{topic}\n{now}\n{digest}".encode())
    return "recourse-signature", f"v1 {key_id} {now} 1 {base64.b64encode(signed).decode()}".encode()


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


def load_state(path, scope):
    """Places by scope and partition, and the commits whose rollback was told."""
    if path is None or not os.path.exists(path):
        return {"places": {}, "told": []}
    with open(path, encoding="utf-8") as file:
        state = {"places": {}, "told": [], **json.load(file)}
    # Before places had scopes, each was behind the last record that was read, which may be void, and held what was told.
    old = {number: state["places"].pop(number) for number, place in list(state["places"].items()) if "seq" in place}
    if old:
        moved = {number: {"offset": place["offset"] - 1, "seq": place["seq"], "hash": place["hash"], "is_guess": True} for number, place in old.items() if place["seq"] > 0}
        state["told"] = sorted({*state["told"], *(commit for place in old.values() for commit in place["told"])})
        state["places"][scope] = {**moved, **state["places"].get(scope, {})}
        save_state(path, state)
    return state


def save_state(path, state):
    """Written whole beside the old one, then put in its place."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def kafka_settings(brokers, path):
    """What reaches the brokers: where they are, and what a file says of how to speak to them."""
    settings = {}
    if path is not None:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
        settings = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
    return {**settings, "bootstrap.servers": brokers}


def group_of(settings):
    """The group to name, which a client has to. A broker that asks who somebody is allows a consumer the group of its own name alone."""
    return settings.get("group.id") or settings.get("sasl.username") or "recourse-python-consumer"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", required=True, help="host:port[,host:port]")
    parser.add_argument("--registry", required=True, help="Confluent-compatible schema registry, with its path")
    parser.add_argument("--log-id", required=True, help="log id of the installation; genesis hashes commit to it")
    parser.add_argument("--topic", default=TOPIC, help=f"another log (default {TOPIC})")
    parser.add_argument("--follow", action="store_true", help="go on when the end is reached")
    parser.add_argument("--consumer", help="acknowledge under this name, as its subscription has it")
    parser.add_argument("--scope", default="*", help="prefix of tenant/agent/run/subject (default: everything)")
    parser.add_argument("--state", help="file that keeps the place in each partition")
    parser.add_argument("--signing-key", help="private key in PEM, to sign acknowledgements with")
    parser.add_argument("--key-id", help="id that the keyring gives this key")
    parser.add_argument("--kafka-config", help="file with settings of librdkafka, name=value a line")
    options = parser.parse_args(argv)
    if (options.signing_key is None) != (options.key_id is None):
        parser.error("--signing-key and --key-id belong together")
    # The group is never joined: partitions are assigned by hand and no offset is committed. Every record is read, also of transactions
    # that are open or were aborted: the chain says what counts, and every reader has to see the same. What ends a transaction takes
    # an offset and is no record, so the end of a partition is told by the broker.
    reading = {"enable.auto.commit": False, "auto.offset.reset": "error", "isolation.level": "read_uncommitted", "enable.partition.eof": True}
    readers = []
    try:
        settings = kafka_settings(options.brokers, options.kafka_config)
        readers = [Consumer({**settings, **reading, "group.id": group_of(settings)}) for _ in range(2)]
        acks = None if options.consumer is None else Acks(options, settings)
        read(*readers, options, Schemas(options.registry), acks)
        return 0
    except urllib.error.URLError as error:
        print(f"unknown schema, or no registry: {error}", file=sys.stderr)
        return 1
    except (KafkaException, OSError, RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    finally:
        for reader in readers:
            reader.close()


def read(consumer, looker, options, schemas, acks):
    scope = options.scope if options.consumer is not None else "*"
    state = load_state(options.state, scope)
    told = set(state["told"])
    chains = chains_of(consumer, options)
    places = state["places"].get(scope, {})
    for chain in chains.values():
        if str(chain.number) in places:
            begin(chain, places[str(chain.number)], looker, options.topic, schemas)
    ends = {number: consumer.get_watermark_offsets(TopicPartition(options.topic, number), timeout=TIMEOUT_S)[1] for number in chains}
    consumer.assign([TopicPartition(options.topic, number, chain.next_offset()) for number, chain in chains.items()])
    pending = {number for number, end in ends.items() if end > chains[number].next_offset()}
    quiet_since, said_void = time.monotonic(), set()
    while pending or options.follow:
        messages = consumer.consume(FETCHED_TOGETHER, 0.1)
        quiet_since = time.monotonic() if messages else quiet_since
        if pending and time.monotonic() - quiet_since > 3 * TIMEOUT_S:
            raise RuntimeError(f"no answer for partitions {sorted(pending)}")
        try:
            for message in messages:
                is_end = message.error() is not None and message.error().code() == KafkaError._PARTITION_EOF
                if message.error() is not None and not is_end:
                    raise RuntimeError(str(message.error()))
                chain = chains[message.partition()]
                if not is_end:
                    take_whole(message, chain, schemas, acks, scope, told)
                if is_end or message.offset() + 1 >= ends[chain.number]:
                    pending.discard(chain.number)
                    if options.follow and chain.all_void() and chain.number not in said_void:
                        said_void.add(chain.number)
                        print(chain.all_void(), file=sys.stderr, flush=True)
            for chain in chains.values():
                if chain.is_overtaken:
                    assure(chain, looker, options.topic, schemas)
        finally:
            # Also after a failure: what was taken whole before it is not done again.
            places = {str(number): chain.place() for number, chain in chains.items() if chain.offset is not None}
            if options.state is not None and (places != state["places"].get(scope, {}) or len(told) > len(state["told"])):
                state["places"][scope], state["told"] = places, sorted(told)
                save_state(options.state, state)
    for chain in chains.values():
        if chain.all_void():
            raise ValueError(chain.all_void())


def begin(chain, place, looker, topic, schemas):
    """Goes on at a place; behind one that is a guess only where it stands, and else at the start of the log."""
    genesis = chain.place()
    chain.resume(place)
    if not place.get("is_guess", False):
        assure(chain, looker, topic, schemas)
    elif not stands(chain, looker, topic, schemas):
        chain.resume(genesis)


def chains_of(consumer, options):
    """The chain of each partition, before its first record."""
    described = consumer.list_topics(options.topic, timeout=TIMEOUT_S).topics[options.topic]
    if described.error is not None or not described.partitions:
        raise RuntimeError(f"{options.topic}: {described.error or 'has no partitions'}")
    return {number: Partition(options.log_id, options.topic, number, len(described.partitions)) for number in described.partitions}


def take_whole(message, chain, schemas, acks, scope, told):
    """Takes one record; one that could not be taken whole was not taken, and comes again at the next start."""
    place = chain.place()
    try:
        take(message, chain, schemas, acks, scope, told)
    except BaseException:
        chain.resume(place)
        raise


def take(message, chain, schemas, acks, scope, told):
    """Applies the acceptance rule to one record, prints what is in the scope and was not told, and acknowledges all of it that waits."""
    accepted = chain.accept(message.offset(), message.key(), message.value(), schemas)
    if accepted is None:
        return
    kind, body = accepted
    body = within(scope, body, told)
    if body is None:
        return
    is_answered = acks is not None and kind == "RollbackAnnounced"
    news = untold(told, body) if is_answered else body
    if news is not None:
        print(json.dumps({"type": kind, "partition": chain.number, "offset": message.offset(), "seq": chain.seq, "body": news}, default=bytes.hex), flush=True)
    if is_answered:
        # From here on it was told, also where its answer fails. What was told waits again where it falls anew: a restored log knows of no answer.
        told.update(commit_of({**body, **member}) for member in body["members"])
        acks.send(body, round(time.time() * 1000))


if __name__ == "__main__":
    sys.exit(main())
