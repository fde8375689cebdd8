"""Publishes a ToolExecuted, ToolPlanned or AssumptionInvalidated to Recourse, with confluent-kafka and fastavro alone.

    python producer.py --brokers 127.0.0.1:9092 --registry http://127.0.0.1:8080/apis/ccompat/v7 \\
        ToolExecuted '{"event_id": "e-1", "tenant": "acme", "run_id": "run-1", …, "args": {"json": {"order": "4711"}}}'

Three things matter to whoever writes their own producer:

  1. Keys: plain UTF-8, partitioned by murmur2 (librdkafka's default is another function). ToolExecuted is keyed by its run,
     AssumptionInvalidated by its ref. A record on the wrong partition is parked.
  2. Values: 0x00, the schema id as uint32 (big-endian), then Avro. The id is looked up under the subject
     <topic>-<full record name>; nothing is registered here.
  3. Delivery is at least once: send again with the same event_id and content, and it counts once.

In the JSON, `fixed` fields are hex and instants epoch milliseconds. A payload may be written whole, or as {"json": …}, which
becomes a plain application/json payload with its hash.
"""

import argparse
import hashlib
import io
import json
import struct
import sys
import urllib.error
import urllib.parse
import urllib.request

import fastavro
from confluent_kafka import Producer

# Record: topic, full name, and the field that is the key.
RECORDS = {
    "ToolPlanned": ("recourse.tool-executions", "recourse.executions.ToolPlanned", "run_id"),
    "ToolExecuted": ("recourse.tool-executions", "recourse.executions.ToolExecuted", "run_id"),
    "AssumptionDeclared": ("recourse.assumption-events", "recourse.assumptions.AssumptionDeclared", "ref"),
    "AssumptionInvalidated": ("recourse.assumption-events", "recourse.assumptions.AssumptionInvalidated", "ref"),
    "AssumptionReaffirmed": ("recourse.assumption-events", "recourse.assumptions.AssumptionReaffirmed", "ref"),
}
FLUSH_S = 30


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


def from_json(value, schema, names):
    """Turns JSON into what fastavro writes: hex into fixed, {"json": …} into a payload."""
    if isinstance(schema, list):
        branch = next((branch for branch in schema if branch != "null"), "null")
        return None if value is None else from_json(value, branch, names)
    schema = names.get(schema, schema) if isinstance(schema, str) else schema
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind == "fixed":
        return bytes.fromhex(value)
    if kind == "bytes":
        return value.encode("utf-8")
    if kind == "array":
        return [from_json(item, schema["items"], names) for item in value]
    if kind == "map":
        return {name: from_json(member, schema["values"], names) for name, member in value.items()}
    if kind != "record":
        return value
    if schema["name"].endswith("Payload") and set(value) == {"json"}:
        return payload(value["json"])
    unknown = set(value) - {field["name"] for field in schema["fields"]}
    if unknown:
        raise ValueError(f"{schema['name']} has no field {', '.join(sorted(unknown))}")
    return {field["name"]: from_json(value[field["name"]], field["type"], names) for field in schema["fields"] if field["name"] in value}


def payload(content):
    body = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    return {"content_type": "application/json", "encoding": "plain", "key_id": None, "body": body, "sha256": hashlib.sha256(body).digest()}


def framed(schema_id, schema, body):
    stream = io.BytesIO(struct.pack(">bI", 0, schema_id))
    stream.seek(0, io.SEEK_END)
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), body, strict_allow_default=True)
    return stream.getvalue()


def send(brokers, topic, key, value):
    """Sends one record; returns its partition and offset once the broker has acknowledged it."""
    delivered = []
    producer = Producer({"bootstrap.servers": brokers, "partitioner": "murmur2_random", "acks": "all", "enable.idempotence": True})
    producer.produce(topic, key=key.encode("utf-8"), value=value, on_delivery=lambda error, message: delivered.append((error, message)))
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
    parser.add_argument("record", choices=sorted(RECORDS))
    parser.add_argument("body", help="the record as JSON; - reads standard input")
    options = parser.parse_args(argv)
    topic, full_name, key_field = RECORDS[options.record]
    try:
        body = json.loads(sys.stdin.read() if options.body == "-" else options.body)
        schema_id, schema = latest_schema(options.registry, f"{topic}-{full_name}")
        value = framed(schema_id, schema, from_json(body, schema, names_in(schema)))
        partition, offset = send(options.brokers, topic, body[key_field], value)
    except urllib.error.URLError as error:
        print(f"schema registry: {error}", file=sys.stderr)
        return 1
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        print(f"{options.record}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"topic": topic, "partition": partition, "offset": offset, "key": body[key_field], "schema_id": schema_id}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
