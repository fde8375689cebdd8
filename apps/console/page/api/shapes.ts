// What the console reads of the services' answers. Fields it does not show are not named; others may come and go.
import * as z from 'zod/mini';

const text = z.string();
const textOrNull = z.nullable(z.string());
const instant = z.nullable(z.number());

export const MONEY = z.object({ amount_minor: z.number(), currency: z.string() });
export type Money = z.infer<typeof MONEY>;

/** A row whose fields are shown as they are. */
export const ROW = z.record(z.string(), z.unknown());
export type Row = z.infer<typeof ROW>;

export function pageOf<T>(item: z.ZodMiniType<T>) {
  return z.object({
    items: z.array(item),
    next_cursor: z.nullish(z.string()),
    /** Of reports, which have no pages. */
    more: z.optional(z.boolean()),
  });
}

export const ROWS = pageOf(ROW);

export const PERSON = z.object({
  subject: text,
  tenant: text,
  roles: z.array(text),
  csrf: text,
  ends_at: z.number(),
});
export type Person = z.infer<typeof PERSON>;

export const ITEM = z.object({
  kind: text,
  id: text,
  tenant: text,
  run_id: text,
  capability: textOrNull,
  reason: text,
  owner: text,
  runbook: textOrNull,
  /** Of an alarm and a parked record: absent where a notifier is of before. */
  log: z.nullish(text),
  required_approvals: z.number(),
  approvals: z.number(),
  opened_at: z.number(),
  deadline_at: z.number(),
  is_overdue: z.boolean(),
  way_out: text,
});
export type Item = z.infer<typeof ITEM>;

const SHOWN = z.unknown();
const OBSERVATION = z.object({
  phase: text,
  call: z.number(),
  capability: text,
  observed: SHOWN,
  observed_at: z.number(),
});
/** What a worker said; absent where a service is of before it was kept. */
const WORDS = { error_kind: z.nullish(text), said: z.nullish(SHOWN) };
export type WorkerWords = z.infer<z.ZodMiniObject<typeof WORDS>>;
const STATEMENT = z.object({ source: text, stated_at: z.number(), statement: SHOWN });
const FOLDABLE = z.union([text, z.record(text, z.unknown())]);

/** An argument that an earlier call gives. */
const TAKEN = z.object({ name: text, call: z.number(), path: text });
export type Taken = z.infer<typeof TAKEN>;
/** How far an attempt at several calls came. */
const CALLS = z.object({ done: z.array(text), stopped_at: textOrNull });
export type Calls = z.infer<typeof CALLS>;
/** What binds a compensation beside the contract of its effect. */
const IN_FORCE = z.object({
  contract_version: z.number(),
  approval_mode: text,
  risk_level: text,
  rules: z.array(text),
});
export type InForce = z.infer<typeof IN_FORCE>;

export const REVIEW = z.object({
  step_id: text,
  recovery_id: text,
  rollback_id: text,
  mutation_id: text,
  tenant: text,
  run_id: text,
  phase: text,
  ready: z.boolean(),
  missing: z.array(text),
  reason: text,
  why: text,
  owner: text,
  deadline_at: instant,
  untrusted: z.object({ objective: z.nullable(FOLDABLE) }),
  proposed_by: z.object({
    agent_id: text,
    initiator: textOrNull,
    run_step_id: text,
    call_id: text,
    decision: z.nullish(FOLDABLE),
    release: z.nullish(z.record(text, text)),
  }),
  action: z.object({
    capability: text,
    effect: textOrNull,
    args: SHOWN,
    value: z.nullable(MONEY),
    rehearsal: SHOWN,
    agreed_by: z.array(text),
  }),
  resource: z.object({ subject_ref: textOrNull, external_ref: textOrNull }),
  facts: z.object({
    then: z.object({ refs: z.array(text), at: z.number() }),
    now: z.object({ ref: textOrNull, source: text, stated_at: z.number(), statement: SHOWN }),
    resource: z.object({ seen: z.nullable(OBSERVATION), before: z.nullable(OBSERVATION) }),
    changed: z.array(text),
    reaffirmed: z.nullable(STATEMENT),
  }),
  forward: z.object({
    state: text,
    found_out: z.nullish(
      z.object({
        how: text,
        by: textOrNull,
        verdict: text,
        reason: text,
        attempt: z.number(),
        found_at: z.number(),
        observations: z.array(OBSERVATION),
      }),
    ),
  }),
  reconciliation: z.nullable(
    z.object({
      ...WORDS,
      outcome: text,
      reason: text,
      attempt: z.number(),
      calls: z.nullish(CALLS),
      looked: z.nullish(z.object({ ...WORDS, reason: text, at: z.number() })),
      observations: z.array(OBSERVATION),
    }),
  ),
  lacking: z.array(text),
  compensation_mode: z.nullish(z.object({ mode: text, reason: text, runbook: textOrNull })),
  compensation: z.nullable(
    z.object({
      capability: text,
      args: SHOWN,
      impact: text,
      risk: textOrNull,
      risk_level: text,
      residue: textOrNull,
      stale_condition: textOrNull,
      success_condition: textOrNull,
      in_force: z.nullish(IN_FORCE),
      then: z.array(
        z.object({ capability: text, args: SHOWN, taken: z.nullish(z.array(TAKEN)), success_condition: text }),
      ),
    }),
  ),
  approvals: z.object({
    given: z.array(z.object({ by: text, at: z.number(), reason: text })),
    required: z.number(),
    why_two: textOrNull,
  }),
  /** When and why is absent of a step that was denied before that was kept. */
  denied: z.nullish(z.object({ by: text, at: z.optional(z.number()), reason: z.optional(text) })),
  action_digest: textOrNull,
  time_left_ms: instant,
  lookalikes: z.array(z.array(text)),
  may: z.array(text),
  /** Absent where the service is an older one. */
  may_not: z.nullish(z.array(z.object({ word: text, code: text, message: text }))),
  links: z.object({
    record: z.object({ log: text, partition: z.number(), seq: instant, record_hash: textOrNull }),
    trace: z.object({ trace_id: text, url: textOrNull }),
  }),
});
export type Review = z.infer<typeof REVIEW>;

const LOOP = z.object({
  log: text,
  partition: z.number(),
  state: text,
  seq: z.optional(z.number()),
  projectedSeq: z.number(),
  reactedSeq: z.optional(z.number()),
  owedSince: z.nullish(z.number()),
  waiting: z.optional(z.number()),
  problem: z.nullish(text),
});
export const STATUS = z.object({
  ready: z.boolean(),
  detail: z.object({
    in_the_way: z.nullish(z.object({ code: text, detail: text })),
    loops: z.optional(z.array(LOOP)),
  }),
});
export type Status = z.infer<typeof STATUS>;
export type Loop = z.infer<typeof LOOP>;
