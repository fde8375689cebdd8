// What people did is told of them by name, whatever record says it.
import { describe, expect, it } from '@jest/globals';
import { SCHEMAS, TOPICS } from '@recourse/messages';
import { isDecision, sentenceOf, WORDS } from './sentences.js';

const payload = (value: unknown): object => ({ encoding: 'plain', body: Buffer.from(JSON.stringify(value)) });
const open = (value: unknown): string => String((value as { readonly body?: Buffer } | null)?.body ?? '-');

interface Described {
  readonly fields: readonly { readonly name: string; readonly type: unknown }[];
}

/** Records of all logs that say by whom they are, and whether by several. */
const SIGNED = TOPICS.flatMap(({ records }) => records).flatMap((name) => {
  const { fields } = JSON.parse(SCHEMAS[name]) as Described; // topics carry records
  const by = fields.find((field) => field.name === 'by');
  return by === undefined ? [] : [[name.slice(name.lastIndexOf('.') + 1), typeof by.type === 'string'] as const];
});

describe('the sentence of a record', () => {
  it.each([...new Map(SIGNED)])('that says by whom it is names them: %s', (type, isOne) => {
    const { who } = sentenceOf(type, { by: isOne ? 'olga' : ['olga', 'mira'], reason: 'so it is' }, open, WORDS);
    expect(who).toBe(isOne ? 'olga' : 'olga, mira');
  });

  it.each([
    [
      'LookDispatched',
      { by: 'olga', purpose: 'reconcile', reason: 'it timed out', evidence: payload({ seen: 're_1' }) },
      { who: 'olga', what: 'had a worker look (reconcile), going by {"seen":"re_1"}: it timed out' },
    ],
    [
      'UndoListed',
      {
        begun_by: null,
        asked_ids: [],
        mutation_ids: ['mut_2', 'mut_1'],
        evidence: { source: 'ursula', statement: payload('not what I meant') },
      },
      { who: 'ursula', what: 'asked to undo the run, which reaches mut_2, mut_1: "not what I meant"' },
    ],
    [
      'UndoListed',
      { begun_by: { step_id: 'pay' }, mutation_ids: ['mut_1'], evidence: { source: 'agent-7', statement: null } },
      { who: 'the ledger', what: 'began to undo the run, one of whose steps failed for good: it reaches mut_1' },
    ],
    [
      'StepWaits',
      { reason: 'ORDER', outstanding: ['st_2'], owner: 'role:approver', deadline_at: 0 },
      {
        who: 'the orchestrator',
        what: expect.stringMatching(/^had it wait \(ORDER\) for st_2; role:approver has it/u),
      },
    ],
    [
      'ReportRefused',
      { code: 'LEASE_OVER', attempt: 2 },
      { who: 'the orchestrator', what: "refused a worker's report of attempt 2 (LEASE_OVER)" },
    ],
    [
      'EffectAgreed',
      { agreed_by: ['olga', 'mira'] },
      { who: 'the ledger', what: 'noted that it was begun with the word of olga, mira' },
    ],
    [
      'BreakerClosed',
      { by: 'olga', scope: 'source', name: 'warehouse', reason: 'it was a test' },
      { who: 'olga', what: 'closed the breaker over source warehouse: it was a test' },
    ],
    [
      'CeilingMoved',
      { by: [], scope: 'agent', scope_id: 'a7', from_minor: 5, ceiling_minor: 3, cause: 'decayed', reason: '' },
      { who: 'the accountant', what: 'moved the ceiling of agent a7 from 5 to 3 (decayed)' },
    ],
    [
      'LookDispatched',
      { by: 'adapter:payments', not_by: 'w-1', purpose: 'observe', reason: 'observes', evidence: payload({}) },
      { who: 'the orchestrator', what: 'had another worker look at what the one that acted says it undid' },
    ],
    [
      'LookDispatched',
      { not_by: 'w-1', purpose: 'observe', acted: [{ capability: 'bank.get_wire', observed: payload('back') }] },
      {
        who: 'the orchestrator',
        what: 'had another worker look at what the one that acted says it undid: bank.get_wire saw "back"',
      },
    ],
    [
      'LookDispatched',
      { by: 'olga', not_by: 'w-1', purpose: 'reconcile', reason: 'it timed out', evidence: payload({ seen: 're_1' }) },
      { who: 'the orchestrator', what: 'had another worker look, too (reconcile)' },
    ],
    [
      'LookAnswered',
      { look: { by: 'olga', not_by: null }, observations: [] },
      { who: 'a worker', what: "looked on a person's word: nothing was seen" },
    ],
    [
      'LookAnswered',
      { look: { by: 'adapter:payments', not_by: 'w-1' }, observations: [] },
      { who: 'another worker', what: 'looked for the orchestrator: nothing was seen' },
    ],
    ['SomethingNew', { reason: 'so' }, { who: 'a service', what: 'recorded SomethingNew: so' }],
  ])('of %s says who did what, and why', (type, says, sentence) => {
    expect(sentenceOf(type, says, open, WORDS)).toEqual(sentence);
  });

  it('of a packet that an older version wrote is what that version said', () => {
    const says = { by: 'olga', scope: 'source', name: 'warehouse', reason: 'it was a test' };
    expect(sentenceOf('BreakerClosed', says, open, 1)).toEqual({
      who: 'a service',
      what: 'recorded BreakerClosed: it was a test',
    });
    expect(sentenceOf('StepReopened', says, open, 1)).toEqual({
      who: 'olga',
      what: 'had it tried again: it was a test',
    });
    const look = { by: 'role:adapter', not_by: 'w-1', purpose: 'observe', reason: '', evidence: payload({}) };
    expect(sentenceOf('LookDispatched', look, open, 2)).toEqual({
      who: 'role:adapter',
      what: 'had a worker look (observe), going by {}',
    });
    expect(sentenceOf('LookAnswered', { look }, open, 2).what).toBe("looked on a person's word: nothing was seen");
    expect([isDecision('LookDispatched', look, 2), isDecision('StepReopened', { by: 'olga' }, 2)]).toEqual([
      true,
      true,
    ]);
  });
});

describe('what a person decided', () => {
  it.each([
    'StepReopened',
    'LookDispatched',
    'OutOfBandReviewed',
    'TriggerRejected',
    'BreakerClosed',
    'DeliveryReviewed',
  ])('is marked as theirs, and was not in packets of older versions: %s', (type) => {
    expect([isDecision(type, { by: 'olga' }, WORDS), isDecision(type, { by: 'olga' }, 1)]).toEqual([true, false]);
  });

  it('is an undo that a person asked for, and none that a failed step or a program began', () => {
    const asked = (kind: string, begun_by: object | null = null): boolean =>
      isDecision('UndoListed', { begun_by, evidence: { kind } }, WORDS);
    expect([asked('human'), asked('critic'), asked('human', { step_id: 'pay' })]).toEqual([true, false, false]);
  });

  it('is no look that the orchestrator has another worker take, whatever a person had the first one look at', () => {
    const taken = (not_by: string | null): boolean => isDecision('LookDispatched', { by: 'olga', not_by }, WORDS);
    expect([taken(null), taken('w-1')]).toEqual([true, false]);
  });

  it('is no ceiling that fell back by itself', () => {
    const moved = (by: readonly string[]): boolean => isDecision('CeilingMoved', { by }, WORDS);
    expect([moved(['olga']), moved([])]).toEqual([true, false]);
  });
});
