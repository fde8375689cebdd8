// What a log holds of people is sealed, under a key that was durable before (docs/design/topics.md).
import { TOPICS } from '@recourse/messages';
import { broken } from './history.js';
import type { Fields, History, LogRecord } from './history.js';

export async function checkSealed(history: History): Promise<void> {
  const used = new Map<string, string>();
  for (const { name, kind } of TOPICS) {
    if (kind === 'wire') continue;
    for (const record of history.logs[name] ?? []) checkRecord(history, record, used);
  }
  const known = new Set((await history.world.keys.find([...used.keys()])).map(({ keyId }) => keyId));
  for (const [keyId, where] of used)
    if (!known.has(keyId)) broken(history, 'sealing', 'S2', `${where} is sealed under ${keyId}, which no store knows`);
}

function checkRecord(history: History, record: LogRecord, used: Map<string, string>): void {
  const where = `${record.topic}/${String(record.partition)}@${String(record.offset)} (${record.type})`;
  if (record.type === 'RecordParked') {
    note(history, record.body['key_id'], where, used);
    return;
  }
  for (const payload of payloadsIn(record.body))
    note(history, payload['encoding'] === 'sealed' ? payload['key_id'] : null, where, used);
}

function note(history: History, keyId: unknown, where: string, used: Map<string, string>): void {
  if (typeof keyId === 'string') used.set(keyId, where);
  else broken(history, 'sealing', 'S1', `${where} holds a payload in the clear`);
}

/** All payloads in a document. */
export function payloadsIn(value: unknown): readonly Fields[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if (Array.isArray(value)) return value.flatMap(payloadsIn);
  const fields = value as Fields; // any object can be read by name
  return 'encoding' in fields && 'sha256' in fields ? [fields] : Object.values(fields).flatMap(payloadsIn);
}
