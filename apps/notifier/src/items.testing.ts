// Records as the logs hold them, made from the schemas, for the specs of the notifier.
import { SCHEMAS, TOPICS } from '@recourse/messages';
import type { Endpoint } from './rules/webhook/endpoint.messages.js';
import type { FollowedLog } from './core.js';
import type { Thing } from './rules/item/item.messages.js';

export const MUTATIONS = 'recourse.mutations';
export const RECOVERIES = 'recourse.recoveries';
export const BUDGETS = 'recourse.budgets';
export const HEADS = 'recourse.signed-heads';

/** Whatever a person or an agent could have written. */
export const CANARY = 'Asha Rao <asha@example.org> +91 98765 43210';

/** Names of the records of a log. */
export function recordTypesOf(log: FollowedLog): readonly string[] {
  return (TOPICS.find(({ name }) => name === log)?.records ?? []).map((name) => name.slice(name.lastIndexOf('.') + 1));
}

/** A record of a type with what is given, in each of its members too; every other text in it is the canary, every other number 1. */
export function recordOf(log: FollowedLog, type: string, more: Readonly<Record<string, unknown>> = {}): HeardRecord {
  const full = (TOPICS.find(({ name }) => name === log)?.records ?? []).find((name) => name.endsWith(`.${type}`)) ?? '';
  // Avro JSON of a record is an object.
  const body = { ...(valueOf(full, '') as Readonly<Record<string, unknown>>), ...IDS, ...more };
  const { members } = body as { readonly members?: readonly Readonly<Record<string, unknown>>[] }; // where a schema has them
  if (members === undefined || 'members' in more) return { type, body };
  return { type, body: { ...body, members: members.map((member) => ({ ...member, ...IDS, ...more })) } };
}

/** Ids are told; they are the producers' and ours. */
const IDS = {
  tenant: 'acme',
  run_id: 'run-1',
  step_id: 'step-1',
  recovery_id: 'rec-1',
  rollback_id: 'rb-1',
  task_id: 'task-1',
  incident_id: 'inc-1',
  approval_id: 'ask-1',
  reservation_id: 'res-1',
  breaker_id: 'brk-1',
  trend_id: 'trd-1',
  alarm_id: 'alm-1',
  parked_id: 'parked-1',
  autonomy_id: 'aut-1',
  scope_id: 'run-1',
  proposal_id: 'prop-1',
  mutation_id: 'mut-1',
  consumer: 'warehouse',
} as const;
const TOLD: readonly string[] = Object.keys(IDS);

/** A record as a codec answers it. */
export interface HeardRecord {
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface AvroSchema {
  readonly type: unknown;
  readonly fields?: readonly { readonly name: string; readonly type: unknown }[];
  readonly items?: unknown;
  readonly values?: unknown;
  readonly symbols?: readonly string[];
  readonly size?: number;
}

/** A value of a type: of a union its last branch, of an array one element, of an enum its first word. */
function valueOf(type: unknown, field: string): unknown {
  if (Array.isArray(type)) return valueOf(type.at(-1), field);
  if (typeof type === 'object' && type !== null) return structured(type as AvroSchema, field); // Avro JSON
  switch (type) {
    case 'string':
      return TOLD.includes(field) ? IDS[field as keyof typeof IDS] : CANARY; // one of its keys
    case 'bytes':
      return Buffer.from(CANARY);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'int':
    case 'long':
    case 'float':
    case 'double':
      return 1;
    default:
      return structured(named(String(type)), field);
  }
}

function structured(schema: AvroSchema, field: string): unknown {
  switch (schema.type) {
    case 'record':
      return Object.fromEntries((schema.fields ?? []).map(({ name, type }) => [name, valueOf(type, name)]));
    case 'array':
      return [valueOf(schema.items, field)];
    case 'map':
      return { [CANARY]: valueOf(schema.values, field) };
    case 'enum':
      return schema.symbols?.[0];
    case 'fixed':
      return Buffer.alloc(schema.size ?? 0, CANARY);
    default:
      return valueOf(schema.type, field);
  }
}

/** Every named type of the catalogue: a schema defines one where it names it first. */
const NAMED = new Map<string, AvroSchema>();
for (const text of Object.values(SCHEMAS)) collect(JSON.parse(text));

function collect(type: unknown): void {
  if (Array.isArray(type)) {
    type.forEach(collect);
    return;
  }
  if (typeof type !== 'object' || type === null) return;
  const schema = type as AvroSchema & { readonly name?: string }; // Avro JSON
  if (schema.name !== undefined) NAMED.set(schema.name, schema);
  for (const inner of [
    schema.items,
    schema.values,
    ...(schema.fields ?? []).map((field) => field.type),
    ...(typeof schema.type === 'object' ? [schema.type] : []),
  ])
    collect(inner);
}

function named(full: string): AvroSchema {
  const schema = NAMED.get(full);
  if (schema === undefined) throw new Error(`no schema ${full}`);
  return schema;
}

export function endpoint(more: Partial<Endpoint> = {}): Endpoint {
  return {
    name: 'chat',
    url: 'https://hooks.example.org/x',
    shape: 'generic',
    keys: [Buffer.alloc(24, 1)],
    tenants: null,
    kinds: null,
    remindBeforeMs: null,
    tellsEnds: false,
    ...more,
  };
}

/** A step that waits for an approval. */
export const WAITING: Thing = {
  thing: 'step',
  id: 'step-1',
  tenant: 'acme',
  runId: 'run-1',
  recoveryId: 'rec-1',
  stepId: 'step-1',
  capability: 'payments.reverse_refund',
  runbook: 'runbooks/refunds.md',
  item: {
    kind: 'approval',
    opening: 'recourse.recoveries/0/7',
    openedAt: 1_000,
    deadlineAt: 11_000,
    reason: 'HIGH_IMPACT',
    owner: 'role:approver',
    requiredApprovals: 1,
    approvals: 0,
  },
};
