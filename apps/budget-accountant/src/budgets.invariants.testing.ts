// Ceilings in several units, scopes and windows, a capability with caps, and the steps of stories under them.
import { readFileSync } from 'node:fs';
import { contractBody, contractDigest, contractView, parseContract } from '@recourse/contract';
import type { RecordInput, Row } from '@recourse/event-log';
import { fact, memoryView } from '@recourse/testing';
import type { MemoryView } from '@recourse/testing';
import { changed, command, decide, INR, recorded, releaseOf, RUN, TENANT } from './budgets.testing.js';

export const UNITS = [INR, 'comms', 'commitments', 'both'] as const;
export const STEPS = [
  ...['reserve', 'reserve', 'reserve', 'reserve', 'settle', 'settle', 'more', 'less'],
  ...['fail', 'release', 'refund', 'refund', 'approve', 'raise', 'deny', 'lower', 'open', 'open'],
] as const;

/** A capability whose contract bounds what a run does with it. */
export const CAPPED = { capability: 'flags.set_all', calls: 2, subjects: 1 } as const;

const CAPABILITIES = ['wire.send_money', 'wire.send_money', CAPPED.capability];
const SUBJECTS = ['order/1', 'order/2'];
const AGENTS = ['agent-7', 'agent-8'];

const body = (() => {
  const json = JSON.parse(readFileSync('examples/contracts/flags.set_flag.json', 'utf8')) as object; // a contract is a JSON object
  const blast_radius = { max_calls_per_run: CAPPED.calls, max_subjects_per_run: CAPPED.subjects, scope: 'tenant' };
  const read = parseContract(JSON.stringify({ ...json, name: CAPPED.capability, blast_radius }));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return contractBody(read.contract);
})();

/** A view in which the capped capability is registered. */
export function cappedView(): MemoryView {
  const view = memoryView(contractView);
  const name = CAPPED.capability;
  view.append(name, fact('ContractRegistered', { name, version: 1, tenant: '*', digest: contractDigest(body), body }));
  return view;
}

const ceiling = (scope: string, currency: string, ceiling_minor: number, more: object = {}): RecordInput =>
  command('OpenBudget', {
    scope,
    scope_id: { run: RUN, agent: 'agent-7' }[scope] ?? TENANT,
    currency,
    ceiling_minor,
    ...more,
  });

export const CEILINGS: readonly RecordInput[] = [
  ceiling('run', INR, 500),
  ceiling('run', 'comms', 250, { measure: 'value' }),
  ceiling('agent', INR, 300, { window: 'day' }),
  ceiling('agent', INR, 250, { window: 'hour', measure: 'value' }),
  ceiling('agent', 'commitments', 200, { window: 'hour', refunds: 'gross' }),
  ceiling('tenant', INR, 600, { refunds: 'gross' }),
  ceiling('tenant', 'commitments', 300),
  ceiling('platform', INR, 550),
];

/** Ceilings that somebody sets while a story goes on. */
const LATER: readonly RecordInput[] = [
  ceiling('tenant', INR, 150, { window: 'hour' }),
  ceiling('tenant', INR, 200, { window: 'day', measure: 'value', refunds: 'gross' }),
  ceiling('agent', 'comms', 150, { window: 'day' }),
  ceiling('run', 'commitments', 150, { window: 'hour', measure: 'value' }),
  ceiling('platform', INR, 200, { window: 'hour', refunds: 'gross' }),
  ceiling('platform', 'comms', 300),
];

export interface Step {
  readonly step: (typeof STEPS)[number];
  readonly effect: number;
  readonly unit: (typeof UNITS)[number];
  readonly amount: number;
  /** Asked for, or done, by another agent than the effect is mostly of. */
  readonly isOther: boolean;
}

function valuesOf({ unit, amount }: Pick<Step, 'unit' | 'amount'>) {
  const units = unit === 'both' ? [INR, 'comms'] : [unit];
  return units.map((currency) => ({ currency, amount_minor: amount }));
}

/** Who asks for an effect, or does it, and with what. */
function callOf({ effect, isOther }: Pick<Step, 'effect' | 'isOther'>) {
  return {
    name: `effect-${String(effect)}`,
    capability: CAPABILITIES[effect % CAPABILITIES.length] ?? '',
    subject: SUBJECTS[effect % SUBJECTS.length] ?? '',
    agent: AGENTS[(effect + (isOther ? 1 : 0)) % AGENTS.length] ?? '',
  };
}

/** An execution that moved what was held, changed so; what it names itself where nothing was. */
function executed(step: Step, reservations: readonly Row[], change: (value: number) => number): RecordInput {
  const { name, ...call } = callOf(step);
  const found = reservations.find(({ doc }) => doc['effect_key'] === name)?.doc;
  const held = (found?.['debits'] ?? []) as readonly { currency: string; value_minor: number }[]; // as reservations hold them
  const moved = held.map(({ currency, value_minor }) => ({ currency, amount_minor: change(value_minor) }));
  const consequence = moved.length > 0 ? moved : valuesOf(step);
  // Half of what happens can be taken back for a while.
  const expiresAt = step.effect % 2 === 0 ? null : 90_000 + step.amount * 1_000;
  return recorded(name, null, { ...call, consequence, ...(expiresAt === null ? {} : { expiresAt }) });
}

/** A step as what the accountant hears. */
export function inputOf(step: Step, reservations: readonly Row[]): RecordInput {
  const { effect, amount } = step;
  const { name, capability, agent, subject } = callOf(step);
  switch (step.step) {
    case 'reserve':
      return command('ReserveBudget', {
        run_id: RUN,
        effect_key: name,
        capability,
        agent_id: agent,
        values: valuesOf(step),
        subject_ref: subject,
      });
    case 'settle':
      return executed(step, reservations, (value) => value);
    case 'more':
      return executed(step, reservations, (value) => value + amount);
    case 'less':
      return executed(step, reservations, (value) => Math.floor(value / 2));
    case 'fail':
      return recorded(name, amount, { state: 'failed' });
    case 'release':
      return releaseOf(name);
    case 'refund':
      return changed(name, 'compensation_verified');
    case 'open':
      return LATER[effect] ?? ceiling('platform', INR, 200, { window: 'day' });
    case 'lower':
      return command('MoveCeiling', { scope: 'run', scope_id: RUN, currency: INR, ceiling_minor: 500 - effect });
    case 'raise':
      return decide(
        name,
        true,
        { principal: 'dana', roles: ['approver', 'administrator', 'platform_administrator'] },
        true,
      );
    default:
      return decide(name, step.step === 'approve');
  }
}
