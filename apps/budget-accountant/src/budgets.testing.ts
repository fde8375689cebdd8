// Inputs of the budgets core for specs.
import { readFileSync } from 'node:fs';
import { contractBody, contractDigest, contractView, EXPOSURE, parseContract } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { deriveId, partitionForKey } from '@recourse/kernel';
import { fact, logged, memoryView, wire } from '@recourse/testing';
import type { MemoryView } from '@recourse/testing';
import { BUDGET_COMMANDS } from './core.js';

export const TENANT = 'acme';
export const RUN = 'run_1';
export const INR = 'INR';

/** What the runs of specs are for. */
export const OBJECTIVE = 'pay the invoices of May';

const envelope = {
  command_id: 'cmd_1',
  tenant: TENANT,
  principal: 'agent-7',
  accounts: [] as readonly string[],
  roles: ['agent', 'administrator', 'approver', 'platform_administrator'],
  route: 'POST /',
  idempotency_key: 'k',
  body_sha256: Buffer.alloc(32),
  issued_at: 0,
  signature: Buffer.alloc(0),
};

export type Who = Partial<typeof envelope>;

/** A command of the budget wire. */
export function command(type: string, body: object, who: Who = {}): RecordInput {
  const asker = { ...envelope, ...who };
  return wire(BUDGET_COMMANDS, type, { envelope: asker, ...UNNAMED[type], ...body }, { key: asker.tenant });
}

/** What the edge says of a command that does not say it itself. */
const UNNAMED: Readonly<Record<string, object>> = {
  ReserveBudget: {
    agent_id: null,
    initiator: null,
    objective: OBJECTIVE,
    subject_ref: null,
    reach: null,
    attempt: null,
  },
  ReleaseReservation: { attempt: null },
  OpenBudget: { measure: 'debt', window: 'life', refunds: 'net' },
  DecideEscalation: { raise_once: false, action_digest: null },
  MoveCeiling: { measure: 'debt', window: 'life', until: null, reason: 'because' },
};

/** What counts in one unit: all of a value, unless it weighs less. */
export function owes(debit_minor: number, currency = INR, value_minor = debit_minor) {
  return [{ currency, value_minor, debit_minor }];
}

export function open(scope: 'run' | 'tenant', ceiling: number, who: Who = {}): RecordInput {
  return command(
    'OpenBudget',
    { scope, scope_id: scope === 'run' ? RUN : (who.tenant ?? TENANT), currency: INR, ceiling_minor: ceiling },
    who,
  );
}
export function reserve(
  effect: string,
  amount: number,
  more: {
    readonly capability?: string;
    readonly currency?: string;
    readonly subject?: string;
    readonly attempt?: number;
    readonly who?: Who;
  } = {},
): RecordInput {
  return command(
    'ReserveBudget',
    {
      run_id: RUN,
      effect_key: effect,
      capability: more.capability ?? 'wire.send_money',
      values: [{ amount_minor: amount, currency: more.currency ?? INR }],
      subject_ref: more.subject ?? `order/${effect}`,
      attempt: more.attempt ?? null,
    },
    more.who,
  );
}
export function releaseOf(effect: string, who: Who = {}, attempt: number | null = null): RecordInput {
  return command('ReleaseReservation', { run_id: RUN, effect_key: effect, attempt }, who);
}
export function decide(
  effect: string,
  approved: boolean,
  who: Who = { principal: 'dana' },
  raise_once = false,
): RecordInput {
  return command(
    'DecideEscalation',
    { escalation_id: deriveId('esc', reservationOf(effect)), approved, raise_once, reason: 'because' },
    who,
  );
}

export function reservationOf(effect: string, tenant = TENANT): string {
  return deriveId('res', tenant, RUN, effect);
}
export function mutationOf(effect: string, tenant = TENANT): string {
  return deriveId('mut', tenant, RUN, effect);
}

/** What a spec says of an execution. */
interface Recorded {
  readonly state?: string;
  readonly recoverability?: string;
  readonly tenant?: string;
  readonly digest?: Buffer;
  readonly currency?: string;
  readonly sensitivity?: string;
  readonly consequence?: readonly { readonly amount_minor: number; readonly currency: string }[];
  readonly capability?: string;
  readonly subject?: string;
  readonly expiresAt?: number;
  readonly agent?: string;
  readonly initiator?: string;
  readonly objective?: string;
  readonly compensation?: object;
  /** Digest of what was done; null in records older than it. */
  readonly actionDigest?: Buffer;
  /** When the ledger recorded it. */
  readonly at?: number;
  /** When the call began, as its producer says; when it was recorded unless told. */
  readonly began?: number;
  /** Who found out how it ended; nobody where its producer told. */
  readonly foundOut?: object;
}

/** What is said of an execution where a spec does not say it. */
const DEFAULTS = {
  state: 'succeeded',
  recoverability: 'committed',
  tenant: TENANT,
  agent: 'agent-7',
  initiator: null,
  objective: null,
  compensation: null,
  capability: 'wire.send_money',
  expiresAt: null,
};

/** An accepted MutationRecorded, as far as the accountant reads it. */
export function recorded(effect: string, amount: number | null, more: Recorded = {}): RecordInput {
  const said = { ...DEFAULTS, subject: `order/${effect}`, ...more };
  const { tenant, digest } = said;
  const terms = { contract_digest: digest, impact: 'financial', compensation: said.compensation };
  return logged(
    'recourse.mutations',
    'MutationRecorded',
    {
      mutation_id: mutationOf(effect, tenant),
      action_digest: more.actionDigest ?? null,
      decided_at: more.at ?? 0,
      execution: {
        tenant,
        run_id: RUN,
        effect_key: effect,
        agent_id: said.agent,
        initiator: said.initiator,
        objective: said.objective,
        capability: said.capability,
      },
      consequence: said.consequence ?? movedBy(amount, more),
      execution_state: said.state,
      found_out: said.foundOut ?? null,
      recoverability: said.recoverability,
      terms: digest === undefined ? null : terms,
      ref: {
        reversal_class: digest === undefined ? 'irreversible' : 'compensable',
        reversal_expires_at: said.expiresAt,
        committed_at: more.began ?? more.at ?? 0,
        subject_ref: said.subject,
      },
    },
    1,
    { partition: 3 },
  );
}

/** As the ledger counts it: what is marked is disclosed. */
function movedBy(amount: number | null, { currency = INR, sensitivity }: Recorded): readonly object[] {
  return [
    ...(amount === null ? [] : [{ amount_minor: amount, currency }]),
    ...(sensitivity === undefined ? [] : [{ amount_minor: 1, currency: EXPOSURE }]),
  ];
}

export function changed(effects: string | readonly string[], event: string, tenant = TENANT): RecordInput {
  const who = { agent_id: null, capability: null };
  const members = [effects].flat().map((effect) => ({ mutation_id: mutationOf(effect, tenant), ...who }));
  return logged('recourse.mutations', 'RecoverabilityChanged', { tenant, run_id: RUN, event, members }, 2, {
    partition: 3,
  });
}

/** A view of the contracts log that holds the refund contract, weight 0.1; and its digest. */
export function refundView(): { readonly view: MemoryView; readonly digest: Buffer } {
  const read = parseContract(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8'));
  if (!read.ok) throw new Error('the example parses');
  const body = contractBody(read.contract);
  const digest = contractDigest(body);
  const view = memoryView(contractView);
  view.append(
    read.contract.name,
    fact('ContractRegistered', {
      name: read.contract.name,
      version: 1,
      tenant: '*',
      digest,
      body,
      registered_by: 'rosa',
      confirmed_by: 'remo',
    }),
  );
  return { view, digest };
}

/** A tenant that lives on another partition than `tenant` does. */
export function stranger(tenant: string, count: number): string {
  const home = partitionForKey(tenant, count);
  return (
    Array.from({ length: 100 }, (_, at) => `tenant-${at}`).find((name) => partitionForKey(name, count) !== home) ?? ''
  );
}
