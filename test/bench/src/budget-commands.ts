// Commands of the budget wire as the HTTP edge puts them there: signed with its key.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUDGET_COMMANDS } from '@recourse/budget-accountant';
import { contractDigest } from '@recourse/contract';
import { signCommand } from '@recourse/event-log';
import type { OutgoingRecord } from '@recourse/kafka';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { CommandEnvelope } from '@recourse/messages';
import { root } from '../../../scripts/lib/paths.mjs';
import type { BenchStack } from './bench-stack.js';
import { ASKED, ceilingsOf } from './budget-load.js';
import type { Ask, TenantLoad } from './budget-load.js';
import type { Registered } from './executions.js';

const NAMESPACE = 'recourse.budgets';
const AGENTS = 50;

/** Something asked of the accountant. */
export interface BudgetSaid {
  readonly type: 'OpenBudget' | 'ReserveBudget';
  readonly tenant: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The refund of the examples, whose run may make as many as this bench asks for. */
export function openRefund(): Registered {
  const text = readFileSync(join(root, 'examples', 'contracts', 'payments.issue_refund.json'), 'utf8');
  const shipped = JSON.parse(text) as { readonly name: string }; // every contract has a name
  const body = canonicalJson({ ...shipped, blast_radius: { max_calls_per_run: 1_000, scope: 'tenant' } });
  return { name: shipped.name, body, digest: contractDigest(body) };
}

/** Sets the ceilings of a tenant, on the value it moves. */
export function openingOf(load: TenantLoad): readonly BudgetSaid[] {
  const { tenant } = load;
  return ceilingsOf(load).map(({ currency, amount_minor }) => ({
    type: 'OpenBudget',
    tenant,
    body: {
      envelope: envelopeOf(tenant, `open-${tenant}-${currency}`, 'owner', 'budget_owner'),
      scope: 'tenant',
      scope_id: tenant,
      currency,
      ceiling_minor: amount_minor,
      measure: 'value',
      window: 'life',
      refunds: 'net',
    },
  }));
}

/** Reserves for one call, in every dimension. */
export function askingOf({ index, tenant, run, effect }: Ask, capability: string): BudgetSaid {
  const agent = `agent-${String(index % AGENTS)}`;
  return {
    type: 'ReserveBudget',
    tenant,
    body: {
      envelope: envelopeOf(tenant, `ask-${run}-${effect}`, agent, 'agent'),
      run_id: run,
      effect_key: effect,
      capability,
      values: ASKED,
      subject_ref: `order/${String(index)}`,
      reach: null,
      attempt: null,
      agent_id: agent,
      initiator: 'asha',
      objective: 'serve the customer',
    },
  };
}

function envelopeOf(tenant: string, key: string, principal: string, role: string): CommandEnvelope {
  return {
    command_id: `cmd_${key}`,
    tenant,
    principal,
    accounts: [],
    roles: [role],
    route: 'POST /v1/reservations',
    idempotency_key: key,
    body_sha256: Buffer.from(sha256Hex(key), 'hex'),
    issued_at: 1_760_000_000_000,
    signature: Buffer.alloc(0),
  };
}

/** A command as it lies on the wire. */
export function onTheWire(
  { codecs }: Pick<BenchStack, 'codecs'>,
  edgeKey: Buffer,
  { type, tenant, body }: BudgetSaid,
): OutgoingRecord {
  const signature = signCommand(edgeKey, { topic: BUDGET_COMMANDS, type: `${NAMESPACE}.${type}`, body });
  const envelope = { ...(body['envelope'] as CommandEnvelope), signature }; // every command has one
  return { key: Buffer.from(tenant), value: codecs.encode(BUDGET_COMMANDS, type, { ...body, envelope }) };
}
