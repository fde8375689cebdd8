"""Publishes a ToolExecuted, ToolPlanned or AssumptionInvalidated to Recourse, with confluent-kafka and fastavro alone.

    python producer.py --brokers 127.0.0.1:9092 --registry http://127.0.0.1:8080/apis/ccompat/v7 \\
        [--signing-key FILE --key-id ID] [--kafka-config FILE] \\
        ToolExecuted '{"event_id": "e-1", "tenant": "acme", "run_id": "run-1", …, "args": {"json": {"order": "4711"}}}'

Four things matter to whoever writes their own producer:

  1. Keys: plain UTF-8, partitioned by murmur2 (librdkafka's default is another function). ToolExecuted is keyed by its run,
     AssumptionInvalidated by its ref. A record on the wrong partition is sent on to its own, which costs time and order.
  2. Values: 0x00, the schema id as uint32 (big-endian), then Avro. The id is looked up under the subject
     <topic>-<full record name>; nothing is registered here.
  3. Delivery is at least once: send again with the same event_id and content, and it counts once.
  4. Signatures: where wires are strict, which is the default, a record counts only with one of a key of the keyring. Without
     it is dropped (SIGNATURE_MISSING), and nothing answers.

In the JSON, `fixed` fields are hex and instants epoch milliseconds. A payload may be written whole, or as {"json": …}, which
becomes a plain application/json payload with its hash. What has another type than its field is refused, and nothing sent.

A FILE of --kafka-config holds settings of librdkafka, `name=value` a line: security.protocol, sasl.username, ssl.ca.location.
"""

import argparse
import base64
import hashlib
import io
import json
import re
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import fastavro
from confluent_kafka import KafkaException, Producer

# Record: topic, full name, and the field that is the key.
RECORDS = {
    "ToolPlanned": ("recourse.tool-executions", "recourse.executions.ToolPlanned", "run_id"),
    "ToolExecuted": ("recourse.tool-executions", "recourse.executions.ToolExecuted", "run_id"),
    "AssumptionDeclared": ("recourse.assumption-events", "recourse.assumptions.AssumptionDeclared", "ref"),
    "AssumptionInvalidated": ("recourse.assumption-events", "recourse.assumptions.AssumptionInvalidated", "ref"),
    "AssumptionReaffirmed": ("recourse.assumption-events", "recourse.assumptions.AssumptionReaffirmed", "ref"),
}
FLUSH_S = 30
LONGS = {"int": 2**31, "long": 2**63}


def latest_schema(registry, subject):
    """Id and schema last registered under a subject."""
    url = f"{registry.rstrip('/')}/subjects/{urllib.parse.quote(subject, safe='')}/versions/latest"
    with urllib.request.urlopen(url, timeout=10) as answer:
        found = json.load(answer)
    return found["id"], json.loads(found["schema"])


def names_in(schema, names=None):
    """Named types a self-contained schema defines."""
    names = {} if names is None else names
    if isinstance(schema, list):
        for branch in schema:
            names_in(branch, names)
    elif isinstance(schema, dict):
        if schema["type"] in ("record", "enum", "fixed"):
            namespace = schema.get("namespace")
            names[f"{namespace}.{schema['name']}" if namespace and "." not in schema["name"] else schema["name"]] = schema
        for inner in (schema.get("items"), schema.get("values"), *(field["type"] for field in schema.get("fields", []))):
            names_in(inner, names)
    return names


def from_json(value, schema, names, at="the record"):
    """Turns JSON into what fastavro writes: hex into fixed, {"json": …} into a payload. Raises ValueError for another type than the field's."""
    if isinstance(schema, list):
        branch = next((branch for branch in schema if branch != "null"), "null")
        return None if value is None else from_json(value, branch, names, at)
    schema = names.get(schema, schema) if isinstance(schema, str) else schema
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind == "array":
        return [from_json(item, schema["items"], names, f"{at}[{index}]") for index, item in enumerate(of_type(list, "a list", value, at))]
    if kind == "map":
        return {well_formed(name, at): from_json(member, schema["values"], names, f"{at}.{name}") for name, member in of_type(dict, "an object", value, at).items()}
    if kind == "record":
        return record(of_type(dict, "an object", value, at), schema, names, at)
    if kind == "boolean":
        return of_type(bool, "true or false", value, at)
    if kind in ("float", "double"):
        return of_type((int, float), "a number", value, at, lambda: abs(value) < float("inf"))
    if kind in LONGS:
        return of_type(int, f"a whole number ({kind})", value, at, lambda: -LONGS[kind] <= value < LONGS[kind])
    if kind == "fixed":
        hexed = re.compile(f"[0-9A-Fa-f]{{{2 * schema['size']}}}")
        return bytes.fromhex(of_type(str, f"{schema['size']} octets in hex", value, at, lambda: hexed.fullmatch(value)))
    if kind == "enum":
        return of_type(str, f"one of {', '.join(schema['symbols'])}", value, at, lambda: value in schema["symbols"])
    text = well_formed(of_type(str, "a string", value, at), at)
    return text.encode("utf-8") if kind == "bytes" else text


def well_formed(text, at):
    """The text, unless it holds half a letter (a lone surrogate): UTF-8 has no octets for that."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{at} must be well-formed Unicode") from error
    return text


def of_type(types, wanted, value, at, holds=lambda: True):
    """The value, where it is of the type and what else has to hold does. To Python, true is a number; to JSON it is none."""
    if not isinstance(value, types) or (isinstance(value, bool) and types is not bool) or not holds():
        raise ValueError(f"{at} must be {wanted}")
    return value


def record(value, schema, names, at):
    """Fields that are left out take the schema's defaults; one it does not have, or that has no default, is an error."""
    if schema["name"].endswith("Payload") and set(value) == {"json"}:
        return payload(value["json"], at)
    fields = {field["name"]: field for field in schema["fields"]}
    unknown = set(value) - set(fields)
    missing = [name for name, field in fields.items() if name not in value and "default" not in field]
    if unknown:
        raise ValueError(f"{at} has no field {', '.join(sorted(unknown))}")
    if missing:
        raise ValueError(f"{at} lacks {', '.join(missing)}")
    return {name: from_json(member, fields[name]["type"], names, f"{at}.{name}") for name, member in value.items()}


def payload(content, at):
    body = well_formed(json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False), at).encode("utf-8")
    return {"content_type": "application/json", "encoding": "plain", "key_id": None, "body": body, "sha256": hashlib.sha256(body).digest()}


def framed(schema_id, schema, body):
    stream = io.BytesIO(struct.pack(">bI", 0, schema_id))
    stream.seek(0, io.SEEK_END)
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), body, strict_allow_default=True)
    return stream.getvalue()


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
    digest = hashlib.sha256(b"".join(struct.pack(">I", len(part)) + part for part in (key, value))).hexdigest()
    now = round(time.time() * 1000)
    signed = private_key.sign(f"recourse-wire-v1\n{topic}\n{now}\n{digest}".encode())
    return "recourse-signature", f"v1 {key_id} {now} 1 {base64.b64encode(signed).decode()}".encode()


def kafka_settings(brokers, path):
    """What reaches the brokers: where they are, and what a file says of how to speak to them."""
    settings = {}
    if path is not None:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
        settings = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
    return {**settings, "bootstrap.servers": brokers}


def send(settings, topic, key, value, headers):
    """Sends one record; returns its partition and offset once the broker has acknowledged it."""
    delivered = []
    producer = Producer({**settings, "partitioner": "murmur2_random", "acks": "all", "enable.idempotence": True})
    producer.produce(topic, key=key, value=value, headers=headers, on_delivery=lambda error, message: delivered.append((error, message)))
    left = producer.flush(FLUSH_S)
    if left > 0 or not delivered:
        raise RuntimeError(f"no acknowledgement within {FLUSH_S} s")
    error, message = delivered[0]
    if error is not None:
        raise RuntimeError(str(error))
    return message.partition(), message.offset()


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", required=True, help="host:port[,host:port]")
    parser.add_argument("--registry", required=True, help="Confluent-compatible schema registry, with its path")
    parser.add_argument("--signing-key", help="private key in PEM, to sign with")
    parser.add_argument("--key-id", help="id that the keyring gives this key")
    parser.add_argument("--kafka-config", help="file with settings of librdkafka, name=value a line")
    parser.add_argument("record", choices=sorted(RECORDS))
    parser.add_argument("body", help="the record as JSON; - reads standard input")
    options = parser.parse_args(argv)
    if (options.signing_key is None) != (options.key_id is None):
        parser.error("--signing-key and --key-id belong together")
    topic, full_name, key_field = RECORDS[options.record]
    try:
        body = json.loads(sys.stdin.read() if options.body == "-" else options.body)
        schema_id, schema = latest_schema(options.registry, f"{topic}-{full_name}")
        value = framed(schema_id, schema, from_json(body, schema, names_in(schema)))
        key = body[key_field].encode("utf-8")
        headers = [] if options.signing_key is None else [signature(signing_key(options.signing_key), options.key_id, topic, key, value)]
        partition, offset = send(kafka_settings(options.brokers, options.kafka_config), topic, key, value, headers)
    except urllib.error.URLError as error:
        print(f"schema registry: {error}", file=sys.stderr)
        return 1
    except (KafkaException, OSError, RuntimeError, TypeError, ValueError) as error:
        print(f"{options.record}: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"topic": topic, "partition": partition, "offset": offset, "key": body[key_field], "schema_id": schema_id}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
