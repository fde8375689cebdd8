// What a question before an effect, a task and an incident say their reader may do: what edge and decider would let them.
import { describe, expect, it } from '@jest/globals';
import type { Offers, Reader } from '@recourse/service';
import { harness } from '@recourse/testing';
import { core, markedInput, views } from '../recoveries.testing.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import type { IncidentDoc, TaskDoc } from '../rules/task/task.messages.js';
import { wordsOfIncident, wordsOfQuestion, wordsOfTask } from './reader.rules.js';
import { reader } from './review-item.testing.js';

const DEADLINE = 9_000;
const codes = ({ may, may_not: withheld }: Offers): readonly unknown[] => [
  may,
  withheld.map(({ word, code }) => [word, code]),
];
/** Whom the edge lets in nowhere. */
const refusedAt: Reader['refusedAt'] = (route) => ({ code: 'ROLE_REQUIRED', message: `not at ${route}` });

describe('of a question before an effect, somebody', () => {
  const question = (more: Partial<ForwardDoc> = {}): ForwardDoc =>
    ({
      ...{ tenant: 'acme', run_id: 'run-1', phase: 'awaiting', agent_id: 'status-agent', initiator: 'ines' },
      ...{ answerable_to: 'otto', requested_by: 'svc:status', contract_digest: Buffer.alloc(32) },
      ...{ action_digest: Buffer.alloc(32, 1), required_approvals: 2, deadline_at: DEADLINE, expires_at: null },
      approvals: [{ by: 'olga', approval_id: 'a_1', at: 1, reason: 'seen' }],
      ...more,
    }) as unknown as ForwardDoc; // what a word is judged by
  const words = (by: Reader, more: Partial<ForwardDoc> = {}, now = 5_000) =>
    codes(wordsOfQuestion(question(more), { reader: by, now }));

  it('who has nothing to do with it may say yes or no', () => {
    expect(words(reader())).toEqual([['approve', 'deny'], []]);
  });

  it.each([
    ['it was asked for', reader('Ines'), 'SELF_APPROVAL'],
    [
      'its agent belongs',
      reader('pia', { ownersOf: (_tenant, agent) => (agent === 'status-agent' ? ['pia'] : []) }),
      'SELF_APPROVAL',
    ],
    ['the contract is owed', reader('edna', { editorsOf: () => ['edna'] }), 'EDITOR_APPROVAL'],
    ['it has been agreed to already', reader('olga'), 'SAME_APPROVER'],
  ])('by whom, for whom or to whom %s may say no alone', (_what, by, code) => {
    expect(words(by)).toEqual([['deny'], [['approve', code]]]);
  });

  it('takes back what nobody has used yet, and says nothing once it is over', () => {
    expect(words(reader(), { phase: 'approved', deadline_at: null, expires_at: 9_000 })).toEqual([['deny'], []]);
    for (const phase of ['denied', 'used', 'expired'] as const) expect(words(reader(), { phase })).toEqual([[], []]);
    const late = ['approve', 'deny'].map((word) => [word, 'APPROVAL_EXPIRED']);
    expect(words(reader(), {}, DEADLINE)).toEqual([[], late]);
  });

  it('whom the edge lets in nowhere is told so, with the words of the edge', () => {
    const both = ['approve', 'deny'].map((word) => ({
      word,
      code: 'ROLE_REQUIRED',
      message: `not at POST /v1/forward-approvals/:id/${word}`,
    }));
    const shown = wordsOfQuestion(question(), { reader: reader('pia', { refusedAt }), now: 5_000 });
    expect(shown).toEqual({ may: [], may_not: both });
  });
});

describe('of a task or an incident of an effect done for Ines, somebody', () => {
  const [row] = harness(core(), { views: views() }).when(markedInput(), 10_000).rows('step');
  const step = row?.doc as StepDoc; // the harness holds what was folded
  // What an author is judged by.
  const task = (task_kind: string, phase = 'open') => ({ task_kind, phase }) as TaskDoc;
  const incident = (phase: string) => ({ phase }) as IncidentDoc;
  const ofTask = (by: Reader, kind = 'support') => codes(wordsOfTask(task(kind), step, by));
  const ofIncident = (by: Reader) => codes(wordsOfIncident(incident('open'), step, by));

  it('with the role may end it, which of a note for the file is another one', () => {
    const approver = reader('pia', { roles: ['approver'] });
    expect([ofTask(approver), ofIncident(approver)]).toEqual([
      [['close'], []],
      [['close'], []],
    ]);
    expect(ofTask(approver, 'audit_note')).toEqual([[], [['close', 'ROLE_REQUIRED']]]);
    expect(ofTask(reader('ada', { roles: ['auditor'] }), 'audit_note')).toEqual([['close'], []]);
  });

  it.each([
    ['for whom it was done', 'ines', ['SELF_APPROVAL', 'SELF_APPROVAL']],
    ['who is no person', 'agent:watcher', ['AUTHOR_NOT_A_PERSON', 'APPROVER_NOT_A_PERSON']],
  ])('%s ends neither', (_who, name, [ofTheTask, ofTheIncident]) => {
    const by = reader(name, { roles: ['approver'] });
    expect(ofTask(by)).toEqual([[], [['close', ofTheTask]]]);
    expect(ofIncident(by)).toEqual([[], [['close', ofTheIncident]]]);
  });

  it('is offered nothing once it has ended', () => {
    const by = reader('pia', { roles: ['approver'] });
    expect(codes(wordsOfTask(task('support', 'done'), step, by))).toEqual([[], []]);
    expect(codes(wordsOfIncident(incident('closed'), step, by))).toEqual([[], []]);
  });

  it('whom the edge lets in nowhere ends neither', () => {
    const by = reader('pia', { roles: ['approver'], refusedAt });
    for (const words of [ofTask(by), ofIncident(by)]) expect(words).toEqual([[], [['close', 'ROLE_REQUIRED']]]);
  });
});
