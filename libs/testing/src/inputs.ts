// What a scenario is told in: records of a log, inputs from wires and logs, and hashes without a chain.
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Decided, Doc, RecordInput } from '@recourse/event-log';
import type { CommandEnvelope } from '@recourse/messages';

/** A record to be expected or given: its type and (part of) its body. */
export function record(type: string, body: Doc = {}): Decided {
  return { type, body };
}

/** The registry's record that an entry stands from now on, or stands no more. */
export function entrySaid(
  kind: string,
  { name, tenant, body }: { readonly name: string; readonly tenant: string; readonly body: Doc },
  type: 'EntryRegistered' | 'EntryRetired' = 'EntryRegistered',
): Decided {
  return record(type, { kind, tenant, name, version: 1, digest: Buffer.alloc(32), body: canonicalJson(body) });
}

/** Somebody of a tenant who sends a command. */
export function envelopeIn(
  tenant: string,
): (principal: string, roles: readonly string[], more?: Partial<CommandEnvelope>) => CommandEnvelope {
  return (principal, roles, more = {}) => ({
    command_id: `cmd-${principal}`,
    tenant,
    principal,
    accounts: [],
    roles,
    route: 'POST /x',
    idempotency_key: 'k',
    body_sha256: Buffer.alloc(32),
    issued_at: 10,
    signature: Buffer.alloc(0),
    ...more,
  });
}

/** Input from a wire. The key is '' unless told; specs of aligned cores rarely need it. */
export function wire(topic: string, type: string, body: object, more: Partial<RecordInput> = {}): RecordInput {
  return {
    source: 'wire',
    topic,
    partition: 0,
    offset: 0,
    key: '',
    type,
    body: body as Doc,
    seq: 0,
    hash: Buffer.alloc(32),
    ...more,
  };
}

/** Input from an accepted record of a log, at chain position `seq`. */
export function logged(
  topic: string,
  type: string,
  body: object,
  seq: number,
  more: Partial<RecordInput> = {},
): RecordInput {
  return { ...wire(topic, type, body), source: 'log', seq, hash: fakeHash(topic, seq, body), ...more };
}

/** Same record hash for equal records, without any chain. */
export function fakeHash(...parts: readonly unknown[]): Buffer {
  return Buffer.from(sha256Hex(canonicalJson(parts.map(hexed))), 'hex');
}

/** A value as canonical text, bytes as hex. */
export function shown(value: unknown): string {
  return canonicalJson(hexed(value));
}

/** The value with bytes as hex text, for printing and hashing. */
function hexed(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return `0x${value.toString('hex')}`;
  if (Array.isArray(value)) return value.map(hexed);
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hexed(member)]));
  return value;
}
