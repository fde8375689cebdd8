// The emergency path is an approval of its own kind: two people, a reason, a time limit, on record (docs/design/recovery.md, governed).
import { describe, expect, it } from '@jest/globals';
import { fact, harness, wire, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  approval,
  CALL_TIMEOUT,
  core,
  digest,
  envelope,
  MARGIN,
  markedInput,
  RUN,
  STEP,
  terms,
  views,
  WINDOW_END,
  leg,
} from '../recoveries.testing.js';
import { GLASS_VALID_MAX_MS, GLASS_VALID_MIN_MS } from '../rules/step/glass.decisions.js';

const AT = 10_000;
const VALID = 600_000;

function glass(by: string, more: Readonly<Record<string, unknown>> = {}, roles: readonly string[] = ['operator']) {
  return wire(
    'recourse.recovery-commands',
    'BreakGlass',
    {
      envelope: envelope(by, roles),
      run_id: RUN,
      step_id: STEP,
      action_digest: digest(),
      valid_ms: VALID,
      reason: 'money leaves while everybody is asleep',
      ...more,
    },
    { key: RUN },
  );
}

describe.each(WAYS)('breaking the glass, $way', ({ isRebuilt }) => {
  const asked = (more: Parameters<typeof markedInput>[0] = {}): CoreHarness =>
    harness(core(), { isRebuilt, views: views() }).when(markedInput(more), AT);
  const doc = (run: CoreHarness) => run.rows('step')[0]?.doc;

  it('takes two people, and then goes at once, on record as what it is', () => {
    const run = asked()
      .when(glass('omar'), AT + 1)
      .then(fact('GlassBroken', { by: 'omar', is_complete: false, valid_until: AT + 1 + VALID }));
    expect(run.outgoing()).toEqual([]);
    run
      .when(glass('petra'), AT + 2)
      .then(
        fact('GlassBroken', { by: 'petra', is_complete: true, reason: 'money leaves while everybody is asleep' }),
        leg({ attempt: 1 }),
      );
    expect(doc(run)).toMatchObject({
      phase: 'dispatched',
      approvals: [],
      glass: [{ by: 'omar' }, { by: 'petra' }],
      glass_until: AT + 1 + VALID,
    });
    expect(run.rows('approval').map(({ doc: { by, used_by } }) => [by, typeof used_by])).toEqual(
      expect.arrayContaining([
        ['omar', 'string'],
        ['petra', 'string'],
      ]),
    );
  });

  it('serves where the contract asks for two, and where one has agreed already', () => {
    const dual = { terms: terms({ recovery_approval_mode: 'dual_control' }) } as const;
    asked(dual)
      .when(glass('omar'), AT + 1)
      .when(glass('petra'), AT + 2)
      .then(fact('GlassBroken'), leg());
    asked(dual)
      .when(approval({ digest: digest(dual) }), AT + 1)
      .when(glass('omar'), AT + 2)
      .then(fact('GlassBroken', { is_complete: false }));
  });

  it.each([
    ['by the same person twice, however spelt', 'OMAR', {}, ['operator'], 409, 'SAME_APPROVER'],
    ['by whom it was done for', 'ines', {}, ['operator'], 403, 'SELF_APPROVAL'],
    ['by an agent', 'agent:fixer', {}, ['operator'], 403, 'APPROVER_NOT_A_PERSON'],
    ['without the role', 'petra', {}, ['approver'], 403, 'ROLE_REQUIRED'],
    ['for another action', 'petra', { action_digest: Buffer.alloc(32) }, ['operator'], 409, 'DIGEST_MISMATCH'],
    ['without a reason', 'petra', { reason: ' now! ' }, ['operator'], 422, 'COMMAND_INVALID'],
    [
      'for longer than an emergency lasts',
      'petra',
      { valid_ms: GLASS_VALID_MAX_MS + 1 },
      ['operator'],
      422,
      'COMMAND_INVALID',
    ],
    ['for no time', 'petra', { valid_ms: GLASS_VALID_MIN_MS - 1 }, ['operator'], 422, 'COMMAND_INVALID'],
    [
      'by another tenant',
      'petra',
      { envelope: envelope('petra', ['operator'], { tenant: 'evil' }) },
      ['operator'],
      404,
      'STEP_UNKNOWN',
    ],
  ])('is refused %s', (_how, by, more, roles, httpStatus, code) => {
    const run = asked()
      .when(glass('omar'), AT + 1)
      .when(glass(by, more, roles), AT + 2)
      .then();
    run.thenAnswer({ httpStatus, code });
    expect(run.outgoing()).toEqual([]);
  });

  it('opens no window that has closed', () => {
    asked()
      .when(glass('omar'), WINDOW_END - MARGIN - CALL_TIMEOUT)
      .then()
      .thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' });
  });

  it('needs both at one time: a first whose time is over counts no more', () => {
    asked()
      .when(glass('omar', { valid_ms: GLASS_VALID_MIN_MS }), AT + 1)
      .when(glass('petra'), AT + 1 + GLASS_VALID_MIN_MS)
      .then(fact('GlassBroken', { is_complete: false }));
  });

  it('is no approval of an ordinary kind: one of each lets nothing go', () => {
    const run = asked({ terms: terms({ recovery_approval_mode: 'dual_control' }) })
      .when(approval({ digest: digest({ terms: terms({ recovery_approval_mode: 'dual_control' }) }) }), AT + 1)
      .when(glass('omar'), AT + 2);
    expect(doc(run)).toMatchObject({ phase: 'awaiting_approval' });
    expect(run.outgoing()).toEqual([]);
  });
});
