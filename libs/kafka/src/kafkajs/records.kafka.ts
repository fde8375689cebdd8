// kafkajs messages as the port's records.
import type { KafkaMessage } from 'kafkajs';
import type { FetchedRecord } from '../kafka.port.js';

const NO_HEADERS: FetchedRecord['headers'] = Object.freeze({});

/** Shape: a header given several times keeps its last value. */
export function asRecord({ offset, timestamp, key, value, headers }: KafkaMessage): FetchedRecord {
  return { offset: Number(offset), key, value, timestamp: Number(timestamp), headers: asHeaders(headers) };
}

function asHeaders(headers: KafkaMessage['headers']): FetchedRecord['headers'] {
  if (headers === undefined) return NO_HEADERS;
  const entries = Object.entries(headers).map(([name, given]) => {
    const last: unknown = Array.isArray(given) ? given.at(-1) : given;
    return [name, Buffer.isBuffer(last) ? last : Buffer.from(typeof last === 'string' ? last : '')] as const;
  });
  return entries.length === 0 ? NO_HEADERS : Object.fromEntries(entries);
}
