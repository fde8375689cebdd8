// What the notifier keeps: how far it has read, what waits, and what is on its way. Lost, it is read anew from the logs.
//
//   read_positions (topic, log_partition)   things (thing_key)   deliveries (id)   endpoints_off (endpoint)
import { ATTEMPT_CODES, DELIVERY_STATES } from './rules/delivery/delivery.messages.js';
import type { Delivery, Notice } from './rules/delivery/delivery.messages.js';

type ColumnType = 'text' | 'int' | 'bigint' | 'jsonb';

/** A column and what stands in it. */
interface Column<Doc> {
  readonly name: string;
  readonly type: ColumnType;
  readonly of: (doc: Doc) => string | number | null;
}

export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { name: 'id', type: 'text', of: ({ id }) => id },
  { name: 'endpoint', type: 'text', of: ({ endpoint }) => endpoint },
  { name: 'tenant', type: 'text', of: ({ tenant }) => tenant },
  { name: 'thing_key', type: 'text', of: ({ about }) => about?.key ?? null },
  { name: 'opening', type: 'text', of: ({ about }) => about?.opening ?? null },
  { name: 'occasion', type: 'text', of: ({ notice }) => notice.occasion },
  { name: 'notice', type: 'jsonb', of: ({ notice }) => JSON.stringify(notice) },
  { name: 'state', type: 'text', of: ({ state }) => state },
  { name: 'attempts', type: 'int', of: ({ attempts }) => attempts },
  { name: 'due_at', type: 'bigint', of: ({ dueAt }) => dueAt },
  { name: 'next_at', type: 'bigint', of: ({ nextAt }) => nextAt },
  { name: 'error_code', type: 'text', of: ({ lastError }) => lastError?.code ?? null },
  { name: 'http_status', type: 'int', of: ({ lastError }) => lastError?.httpStatus ?? null },
  { name: 'updated_at', type: 'bigint', of: ({ updatedAt }) => updatedAt },
];

/** A delivery as the driver gives it; 64-bit numbers are text. */
export interface DeliveryRow {
  readonly id: string;
  readonly endpoint: string;
  readonly tenant: string;
  readonly thing_key: string | null;
  readonly opening: string | null;
  readonly notice: Notice;
  readonly state: string;
  readonly attempts: number;
  readonly due_at: string;
  readonly next_at: string;
  readonly error_code: string | null;
  readonly http_status: number | null;
  readonly updated_at: string;
}

export function deliveryOf(row: DeliveryRow): Delivery {
  const state = DELIVERY_STATES.find((one) => one === row.state) ?? 'queued';
  const code = ATTEMPT_CODES.find((one) => one === row.error_code);
  return {
    id: row.id,
    endpoint: row.endpoint,
    tenant: row.tenant,
    about: row.thing_key === null || row.opening === null ? null : { key: row.thing_key, opening: row.opening },
    notice: row.notice,
    state,
    attempts: row.attempts,
    dueAt: Number(row.due_at),
    nextAt: Number(row.next_at),
    lastError: code === undefined ? null : { code, httpStatus: row.http_status },
    updatedAt: Number(row.updated_at),
  };
}
