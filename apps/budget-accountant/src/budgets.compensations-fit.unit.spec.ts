// What a leg of many compensations leads to fits a batch, however long what it was for is (L4).
import { describe, expect, it } from '@jest/globals';
import type { Doc, RecordInput } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { harness, logged, memoryView, WAYS } from '@recourse/testing';
import { contractView, entryView } from '@recourse/contract';
import { budgetsCore } from './core.js';
import { INR, mutationOf, open, recorded, RUN, TENANT } from './budgets.testing.js';

/** What a broker takes in one message, less what the request needs (L4). */
const BYTES_MAX = 900_000;
const CHAIN = { seq: 1, prev_hash: Buffer.alloc(32), decided_at: 1 };

async function bytesOf(told: readonly { readonly type: string; readonly body: Doc }[]): Promise<number> {
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter('recourse.budgets', { register: true });
  return told
    .map(({ type, body }) => codecs.encode('recourse.budgets', type as 'BudgetOverrun', { ...body, ...CHAIN }).length) // of this log
    .reduce((sum, length) => sum + length, 0);
}

/** So many calls took back one effect. */
function executed(count: number): RecordInput {
  const keys = Array.from({ length: count }, (_, at) => `rev_a#${String(at)}`);
  const members = keys.map((effect_key) => ({
    compensation_id: mutationOf(effect_key),
    effect_key,
    reverses_mutation_id: mutationOf('a'),
    contract_digest: null,
    reversal_class: 'irreversible',
    capability: 'payments.reverse_refund',
    subject_ref: null,
    consequence: [{ amount_minor: 400, currency: INR }],
    execution_state: 'succeeded',
    agent_id: 'agent-7',
    initiator: 'ada',
  }));
  const body = { tenant: TENANT, run_id: RUN, recovery_id: 'rec-1', members };
  return logged('recourse.mutations', 'CompensationsExecuted', body, 3, { partition: 3 });
}

describe.each(WAYS)('the overruns of a leg, $way', ({ isRebuilt }) => {
  const views = { contracts: memoryView(contractView), entries: memoryView(entryView) };

  /** Each of them exceeds the ceiling of the run. */
  function takenBack(count: number, objective: string) {
    const desk = harness(budgetsCore(), { isRebuilt, views }).when(open('run', 1), 1);
    desk.when(recorded('a', 5, { objective }), 2).when(executed(count), 3);
    const { records } = desk.decision();
    const told = records as readonly { type: string; body: Doc }[]; // as they are written
    return { told, desk };
  }
  const objectivesOf = (told: readonly { readonly body: Doc }[]): readonly string[] =>
    told.map(({ body }) => String((body['brief'] as Doc)['objective']));

  it.each([
    ['long', 'o'.repeat(9_500)],
    ['as long as a text may be', 'o'.repeat(64 * 1_024)],
    ['long in any language', '目'.repeat(7_200)],
  ])('fit a batch where what the run is for is %s, and none is lost', async (_how, objective) => {
    const { told, desk } = takenBack(100, objective);
    expect(told.map(({ type }) => type)).toEqual(Array(100).fill('BudgetOverrun'));
    expect(await bytesOf(told)).toBeLessThan(BYTES_MAX);
    for (const cut of new Set(objectivesOf(told))) {
      expect(cut.endsWith('…')).toBe(true);
      expect(objective.startsWith(cut.slice(0, -1)) && cut.length > 100).toBe(true);
    }
    const used = desk.rows('budget').find(({ doc }) => doc['scope'] === 'run')?.doc['used_minor'];
    expect(used).toBe(5 + 100 * 400);
  });

  it('tell what the run is for whole where that fits', () => {
    const objective = 'o'.repeat(3_600);
    expect(objectivesOf(takenBack(64, objective).told)).toEqual(Array(64).fill(objective));
  });
});
