// What an item says its reader may do: what edge and decider would let them, and why not where they would not.
import { describe, expect, it } from '@jest/globals';
import { harness } from '@recourse/testing';
import type { StepDoc } from '../rules/step/step.messages.js';
import {
  agreed,
  answered,
  approval,
  core,
  denial,
  execution,
  LAST_DISPATCH,
  MARGIN,
  markedInput,
  PAID_OUT,
  requestIn,
  terms,
  views,
} from '../recoveries.testing.js';
import { reviewItem } from './review-item.query.js';
import type { Reader, ReviewItem } from './review-item.messages.js';
import { reader } from './review-item.testing.js';

type Run = ReturnType<typeof harness>;

const waiting = (more: Parameters<typeof markedInput>[0] = {}): Run =>
  harness(core(), { views: views() }).when(markedInput(more), 10_000);

function shownTo(run: Run, by: Reader, now = 30_000): Pick<ReviewItem, 'may' | 'may_not'> {
  const doc = run.rows('step')[0]?.doc as StepDoc; // the harness holds what foldRecovery wrote
  const place = { log: 'recourse.recoveries', partition: 0, traceUrl: null, agreedBy: [] };
  return reviewItem(doc, { reader: by, now, marginMs: MARGIN, ofOpen: () => null, ...place });
}
const refusals = ({ may_not: withheld }: Pick<ReviewItem, 'may_not'>): readonly (readonly [string, string])[] =>
  withheld.map(({ word, code }) => [word, code]);

describe('of a step that waits for approval, somebody', () => {
  it('who has nothing to do with it may do all that is offered', () => {
    expect(shownTo(waiting(), reader())).toMatchObject({ may: ['approve', 'deny'], may_not: [] });
  });

  it.each([
    ['on whose behalf it was done', reader('ines')],
    ['who acts under another account of hers', reader('pia', { accounts: ['Ines'] })],
    [
      'whose agent did it',
      reader('otto', { ownersOf: (_tenant, agent) => (agent === 'refund-agent' ? ['otto'] : []) }),
    ],
  ])('%s may deny it and not approve it (P5)', (_who, by) => {
    const shown = shownTo(waiting(), by);
    expect(shown.may).toEqual(['deny']);
    expect(shown.may_not).toEqual([
      {
        word: 'approve',
        code: 'SELF_APPROVAL',
        message: 'Nobody approves their own action nor one done on their behalf.',
      },
    ]);
  });

  it('who wrote its contract may not approve it', () => {
    const shown = shownTo(waiting(), reader('edna', { editorsOf: () => ['edna'] }));
    expect([shown.may, refusals(shown)]).toEqual([['deny'], [['approve', 'EDITOR_APPROVAL']]]);
  });

  it('who has approved already may not again, and another one may', () => {
    const run = waiting({ terms: terms({ recovery_approval_mode: 'dual_control' }) }).when(approval(), 20_000);
    const shown = shownTo(run, reader('olga'));
    expect([shown.may, refusals(shown)]).toEqual([['deny'], [['approve', 'SAME_APPROVER']]]);
    expect(shownTo(run, reader())).toMatchObject({ may: ['approve', 'deny'], may_not: [] });
  });

  it('whom the edge does not let in may do nothing, and is told so before anything else', () => {
    const refusedAt = (route: string): { code: string; message: string } | null =>
      route === 'POST /v1/steps/:id/approve' || route === 'POST /v1/steps/:id/deny'
        ? { code: 'ROLE_REQUIRED', message: 'one of the roles approver is needed' }
        : null;
    const shown = shownTo(waiting(), reader('ines', { refusedAt }));
    const both = ['approve', 'deny'].map((word) => [word, 'ROLE_REQUIRED']);
    expect([shown.may, refusals(shown)]).toEqual([[], both]);
  });

  it('agrees to nothing once there is no time left to begin', () => {
    const shown = shownTo(waiting(), reader(), LAST_DISPATCH + 1);
    expect([shown.may, refusals(shown)]).toEqual([['deny'], [['approve', 'WINDOW_CLOSED']]]);
  });
});

describe('of a step that people have, somebody', () => {
  it('on whose behalf it was done has it tried or looked at again, and does not close it', () => {
    const run = agreed(waiting(), 20_000);
    run.when(answered(requestIn(run.outgoing()), 'stale', [PAID_OUT]), 25_000);
    const shown = shownTo(run, reader('ines'));
    expect([shown.may, refusals(shown)]).toEqual([['retry', 'check', 'escalate'], [['resolve', 'SELF_APPROVAL']]]);
  });

  it('who is no person makes an incident of it and no more', () => {
    const run = agreed(waiting(), 20_000);
    run.when(answered(requestIn(run.outgoing()), 'stale', [PAID_OUT]), 25_000);
    const shown = shownTo(run, reader('agent:watcher'));
    expect(shown.may).toEqual(['escalate']);
    expect(refusals(shown)).toEqual(['resolve', 'retry', 'check'].map((word) => [word, 'APPROVER_NOT_A_PERSON']));
  });

  it('who denied it may close it, unless it was done for them', () => {
    const run = waiting({ execution: execution({ initiator: 'omar' }) }).when(denial(), 20_000);
    expect(refusals(shownTo(run, reader('omar')))).toEqual([['resolve', 'SELF_APPROVAL']]);
    expect(shownTo(run, reader()).may).toEqual(['resolve']);
  });
});
