// A run of two hundred effects fell in one record, and the plan of it fitted no batch: each step named all that come before it, and the
// arguments of each call stand in its plan and again in what is asked of workers. The record was set aside, and nobody planned what fell.
import { describe, expect, it } from '@jest/globals';
import { contractDigest, plainPayload } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { createCodecs } from '@recourse/messages';
import type { Codecs, ToolExecuted } from '@recourse/messages';
import { MemoryRegistry } from '@recourse/kafka';
import { harness, logged } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  command,
  contractText,
  envelope,
  executed,
  ledger,
  NOW,
  refund,
  RUN,
  state,
  statement,
  TENANT,
} from '../../apps/mutation-ledger/src/core/ledger.testing.js';
import { core, views } from '../../apps/recovery-orchestrator/src/recoveries.testing.js';

/** What a batch takes (L4). */
const BYTES_MAX = 900_000;
const RECORDS_MAX = 1_000;
const CHAIN = { seq: 1, prev_hash: Buffer.alloc(32), decided_at: NOW };
const AUTO = { impact: 'write', recovery_approval_mode: 'auto' };

interface Run {
  readonly what: string;
  readonly effects: number;
  /** Of the contract, beside the shipped one's. */
  readonly terms: Readonly<Record<string, unknown>>;
  readonly more: (at: number) => Partial<ToolExecuted>;
  /** It falls by a statement that reaches more than one decision holds, and not by an undo. */
  readonly isSpread?: boolean;
}

const sized = (bytes: number, at: number) => ({
  order_id: String(at),
  amount_minor: 4_200,
  currency: 'INR',
  note: 'x'.repeat(bytes),
});
/** A reversal that restores what was there. */
const RESTORED = {
  refund_id: { from: 'external_ref' },
  amount_minor: { from: 'args', path: '/amount_minor' },
  currency: { from: 'args', path: '/currency' },
  reason: { from: 'prior_value', path: '/reason' },
};
const RUNS: readonly Run[] = [
  { what: 'small effects that go by themselves', effects: 200, terms: AUTO, more: () => ({}) },
  { what: 'small effects that people agree to', effects: 200, terms: {}, more: () => ({}) },
  {
    what: 'effects of a tool without a key',
    effects: 200,
    terms: { ...AUTO, idempotency: undefined },
    more: () => ({}),
  },
  {
    what: 'more effects than one decision marks',
    effects: 450,
    terms: AUTO,
    more: (at) => ({ args: plainPayload(sized(200, at)) }),
  },
  {
    what: 'effects with long arguments',
    effects: 200,
    terms: AUTO,
    more: (at) => ({ args: plainPayload(sized(3_000, at)) }),
  },
  ...[AUTO, {}].map((mode, at) => ({
    what: `effects that overwrote much, ${at === 0 ? 'which go by themselves' : 'and that people agree to'}`,
    effects: 120,
    terms: { ...mode, reversal_args: RESTORED },
    more: () => ({ prior_value: plainPayload({ reason: 'x'.repeat(3_000) }) }),
  })),
  {
    what: 'effects that overwrote much, whose fact is spread',
    effects: 210,
    terms: { reversal_args: RESTORED },
    more: () => ({ prior_value: plainPayload({ reason: 'x'.repeat(3_000) }) }),
    isSpread: true,
  },
  {
    what: 'effects that say what they were made from',
    effects: 200,
    terms: AUTO,
    more: (at) => (at === 0 ? {} : { derived_from: [{ run_id: RUN, commit_id: 'mut_of_nobody' }] }),
  },
];

/** A ledger with the effects on record, and what it marks of their undo. */
function fallen({ effects, terms, more, isSpread = false }: Run): readonly RecordInput[] {
  const body = contractText(terms);
  const on = ledger({ contracts: [body] });
  for (let at = 0; at < effects; at += 1) {
    const named = { event_id: `ev-${String(at)}`, call_id: `call-${String(at)}`, effect_key: `e-${String(at)}` };
    const told = refund({
      ...named,
      contract_digest: contractDigest(body),
      idempotency_key: `k-${String(at)}`,
      ...more(at),
    });
    on.run.when(executed(told), NOW + at);
  }
  const undo = command('UndoRun', envelope('ursula', ['requester'], { tenant: TENANT }), {
    run_id: RUN,
    mutation_ids: [],
    reason: 'all of it',
  });
  on.run.when(isSpread ? state(on.assumptions, statement('invalidated', 'ev-false')) : undo, NOW + effects);
  on.run.whenDue(NOW + effects);
  return on.run
    .records()
    .filter(({ type }) => type === 'MutationsFell')
    .map(({ type, body: told }, at) => logged('recourse.mutations', type, told, at + 1, { key: RUN }));
}

async function bytesOf(codecs: Codecs, run: CoreHarness): Promise<number> {
  await codecs.prepareWriter('recourse.recoveries', { register: true });
  return run
    .recorded()
    .map(
      ({ type, body }) =>
        codecs.encode('recourse.recoveries', type as 'RecoveryPlanned', { ...body, ...CHAIN }).length + 100,
    )
    .reduce((sum, bytes) => sum + bytes, 0);
}

describe('a run that falls', () => {
  it.each(RUNS)('is planned whole, each record of it in one batch: $what', async (told) => {
    const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
    const run = harness(core(), { views: views() });
    const marks = fallen(told);
    for (const [at, mark] of marks.entries()) {
      run.when(mark, NOW + 10_000 + at);
      const bytes = await bytesOf(codecs, run);
      expect(bytes).toBeLessThan(BYTES_MAX);
      expect(run.recorded().length).toBeLessThan(RECORDS_MAX);
    }
    expect(run.rows('step')).toHaveLength(told.effects);
  });
});
