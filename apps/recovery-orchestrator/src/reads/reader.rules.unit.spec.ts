// What an item says its reader may do: what edge and decider would let them, and why not where they would not.
import { describe, expect, it } from '@jest/globals';
import type { Reader } from '@recourse/service';
import { harness, wire } from '@recourse/testing';
import type { StepDoc } from '../rules/step/step.messages.js';
import {
  agreed,
  answered,
  approval,
  core,
  denial,
  digest,
  envelope,
  execution,
  LAST_DISPATCH,
  MARGIN,
  markedInput,
  PAID_OUT,
  requestIn,
  RUN,
  STEP,
  terms,
  views,
} from '../recoveries.testing.js';
import { reviewItem } from './review-item.query.js';
import type { ReviewItem } from './review-item.messages.js';
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

/** What is offered about a step that waits for approval, and what of it ends the waiting otherwise than by a no. */
const ALL = ['approve', 'deny', 'break-glass', 'abandon'];
const ENDING = ['approve', 'break-glass', 'abandon'];

const GLASS_MS = 600_000;
const glassBroken = (by: string) =>
  wire(
    'recourse.recovery-commands',
    'BreakGlass',
    {
      envelope: envelope(by, ['operator']),
      ...{ run_id: RUN, step_id: STEP, action_digest: digest(), valid_ms: GLASS_MS },
      reason: 'money leaves while everybody is asleep',
    },
    { key: RUN },
  );

describe('of a step that waits for approval, somebody', () => {
  it('who has nothing to do with it may do all that is offered', () => {
    expect(shownTo(waiting(), reader())).toMatchObject({ may: ALL, may_not: [] });
  });

  it.each([
    ['on whose behalf it was done', reader('ines')],
    ['who acts under another account of hers', reader('pia', { accounts: ['Ines'] })],
    [
      'whose agent did it',
      reader('otto', { ownersOf: (_tenant, agent) => (agent === 'refund-agent' ? ['otto'] : []) }),
    ],
  ])('%s may deny it, and neither approve it, nor break the glass, nor give it up (P5)', (_who, by) => {
    const message = 'Nobody approves their own action nor one done on their behalf.';
    expect(shownTo(waiting(), by)).toMatchObject({
      may: ['deny'],
      may_not: ENDING.map((word) => ({ word, code: 'SELF_APPROVAL', message })),
    });
  });

  it('who wrote its contract may not approve it', () => {
    const shown = shownTo(waiting(), reader('edna', { editorsOf: () => ['edna'] }));
    expect([shown.may, refusals(shown)]).toEqual([['deny'], ENDING.map((word) => [word, 'EDITOR_APPROVAL'])]);
  });

  it('who has approved already may not again, and another one may', () => {
    const run = waiting({ terms: terms({ recovery_approval_mode: 'dual_control' }) }).when(approval(), 20_000);
    const shown = shownTo(run, reader('olga'));
    expect([shown.may, refusals(shown)]).toEqual([['deny', 'break-glass', 'abandon'], [['approve', 'SAME_APPROVER']]]);
    expect(shownTo(run, reader())).toMatchObject({ may: ALL, may_not: [] });
  });

  it('who has broken the glass already may not again, as long as it holds', () => {
    const run = waiting().when(glassBroken('petra'), 20_000);
    expect(refusals(shownTo(run, reader('petra'), 20_000 + GLASS_MS - 1))).toEqual([['break-glass', 'SAME_APPROVER']]);
    expect(shownTo(run, reader('petra'), 20_000 + GLASS_MS)).toMatchObject({ may: ALL, may_not: [] });
    expect(shownTo(run, reader())).toMatchObject({ may: ALL, may_not: [] });
  });

  it('whom the edge does not let in may do nothing, and is told so before anything else', () => {
    const refusedAt = (route: string): { code: string; message: string } | null =>
      route === 'POST /v1/steps/:id/approve' || route === 'POST /v1/steps/:id/deny'
        ? { code: 'ROLE_REQUIRED', message: 'one of the roles approver is needed' }
        : null;
    const shown = shownTo(waiting(), reader('ines', { refusedAt }));
    const both = ['approve', 'deny'].map((word) => [word, 'ROLE_REQUIRED']);
    const own = ['break-glass', 'abandon'].map((word) => [word, 'SELF_APPROVAL']);
    expect([shown.may, refusals(shown)]).toEqual([[], [...both, ...own]]);
  });

  it('agrees to nothing once there is no time left to begin', () => {
    const shown = shownTo(waiting(), reader(), LAST_DISPATCH + 1);
    const late = ['approve', 'break-glass'].map((word) => [word, 'WINDOW_CLOSED']);
    expect([shown.may, refusals(shown)]).toEqual([['deny', 'abandon'], late]);
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
