import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import type { Row } from '@recourse/event-log';
import { deriveId } from '@recourse/kernel';
import { harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { budgetsCore } from './core.js';
import { questionDigest } from './rules/budget/escalation.decider.js';
import {
  changed,
  command,
  decide,
  INR,
  open,
  owes,
  recorded,
  releaseOf,
  reservationOf,
  reserve,
  RUN,
  TENANT,
} from './budgets.testing.js';

const OWNER = { principal: 'dana', roles: ['approver', 'budget_owner'] };

describe.each(WAYS)('a ceiling that is raised once, $way', ({ isRebuilt }) => {
  const desk = () =>
    harness(budgetsCore(), {
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
      isRebuilt,
    });
  /** 450 of 500 are used, and 100 are asked for. */
  const asked = (more: object = {}) =>
    desk()
      .when(command('OpenBudget', { scope: 'run', scope_id: RUN, currency: INR, ceiling_minor: 500, ...more }), 1)
      .when(reserve('a', 450), 1)
      .when(reserve('b', 100), 1)
      .thenAnswer({ httpStatus: 202 });
  const raised = (more: object = {}) => asked(more).when(decide('b', true, OWNER, true), 2);
  const budgetOf = (accountant: CoreHarness): Row['doc'] =>
    accountant.rows('budget').find(({ doc }) => doc['scope'] === 'run')?.doc ?? {};

  it('says on record by how much, and is counted as every other', () => {
    const accountant = raised().thenAnswer({ httpStatus: 200 });
    expect(accountant.decision().records).toMatchObject([
      {
        type: 'EscalationDecided',
        body: {
          approved: true,
          debits: owes(100),
          raised: [{ scope: 'run', scope_id: RUN, measure: 'debt', currency: INR, window: 'life', by_minor: 100 }],
        },
      },
    ]);
    expect(budgetOf(accountant)).toMatchObject({ used_minor: 550, ceiling_minor: 500, raised_minor: 100 });
  });

  it('is for the question that was read: under the same id another is refused, and nothing is counted', () => {
    const accountant = asked();
    const read = questionDigest(accountant.rows('escalation')[0]?.doc ?? {});
    const word = (digest: string) =>
      command(
        'DecideEscalation',
        {
          escalation_id: deriveId('esc', reservationOf('b')),
          approved: true,
          raise_once: true,
          reason: 'because',
          action_digest: Buffer.from(digest, 'hex'),
        },
        OWNER,
      );
    accountant.when(word('f'.repeat(64)), 2).thenAnswer({ httpStatus: 409, code: 'DIGEST_MISMATCH' });
    expect(budgetOf(accountant)).toMatchObject({ used_minor: 450, ceiling_minor: 500 });
    expect(budgetOf(accountant)['raised_minor'] ?? 0).toBe(0);
    accountant.when(word(read), 2).thenAnswer({ httpStatus: 200 });
    expect(budgetOf(accountant)).toMatchObject({ used_minor: 550, raised_minor: 100 });
  });

  it('is for the question that was read: who is to answer it, and until when, is no part of that', () => {
    const question = asked().rows('escalation')[0]?.doc ?? {};
    const digest = questionDigest(question);
    const passedOn: Readonly<Record<string, unknown>> = {
      ...question,
      is_overdue: true,
      deadline_at: 1,
      owner: 'role:administrator',
    };
    expect(questionDigest(passedOn)).toBe(digest);
    expect(questionDigest({ ...question, about: 'unsettled' })).not.toBe(digest);
    expect(questionDigest({ ...question, debits: [] })).not.toBe(digest);
  });

  it('leaves to others what they had, to the last minor unit; approved alone it leaves nothing', () => {
    raised()
      .when(reserve('c', 50), 3)
      .thenAnswer({ httpStatus: 201 })
      .when(reserve('d', 1), 3)
      .thenAnswer({ httpStatus: 202 });
    asked().when(decide('b', true), 2).when(reserve('c', 1), 3).thenAnswer({ httpStatus: 202 });
  });

  it('is for this ask alone: another as large is asked about again', () => {
    const accountant = raised().when(reserve('c', 100), 3).thenAnswer({ httpStatus: 202 });
    expect(accountant.decision().records[0]?.body['exceeded']).toMatchObject([
      { used_minor: 550, asked_minor: 100, ceiling_minor: 600 },
    ]);
  });

  it('falls back with what it was for: given back, used for less, or taken back', () => {
    const after = (accountant: CoreHarness) => {
      const { used_minor, raised_minor } = budgetOf(accountant);
      return [used_minor, raised_minor];
    };
    expect(after(raised().when(releaseOf('b'), 3))).toEqual([450, 0]);
    expect(after(raised().when(recorded('b', 30), 3))).toEqual([480, 30]);
    expect(after(raised().when(recorded('b', 100), 3).when(changed('b', 'compensation_verified'), 4))).toEqual([
      450, 0,
    ]);
  });

  it('stays where a gross ceiling goes on counting what was taken back', () => {
    const accountant = raised({ refunds: 'gross' })
      .when(recorded('b', 100), 3)
      .when(changed('b', 'compensation_verified'), 4);
    expect(budgetOf(accountant)).toMatchObject({ used_minor: 450, refunded_minor: 100, raised_minor: 100 });
    accountant
      .when(reserve('c', 50), 5)
      .thenAnswer({ httpStatus: 201 })
      .when(reserve('d', 1), 5)
      .thenAnswer({ httpStatus: 202 });
  });

  it('ends with the window it was in', () => {
    const accountant = raised({ window: 'hour' }).when(reserve('c', 501), 3_600_000).thenAnswer({ httpStatus: 202 });
    expect(accountant.decision().records[0]?.body['exceeded']).toMatchObject([{ used_minor: 0, ceiling_minor: 500 }]);
  });

  it('asked for anew after it was given back, is not raised any more', () => {
    raised().when(releaseOf('b'), 3).when(reserve('b', 100), 4).thenAnswer({ httpStatus: 202 });
  });

  it('is raised by who may let it through and may set it, and by nobody who asked', () => {
    const answer = (who: object) => asked().when(decide('b', true, { ...OWNER, ...who }, true), 2);
    answer({ roles: ['approver'] }).thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    answer({ roles: ['budget_owner'] }).thenAnswer({ httpStatus: 403 });
    answer({ principal: 'agent-7' }).thenAnswer({ httpStatus: 403 });
  });

  it('is raised by an administrator of all tenants where it is the platform’s', () => {
    const over = () =>
      desk()
        .when(command('OpenBudget', { scope: 'platform', scope_id: TENANT, currency: INR, ceiling_minor: 50 }), 1)
        .when(reserve('b', 100), 1);
    over()
      .when(decide('b', true, OWNER, true), 2)
      .thenAnswer({ httpStatus: 403 });
    const roles = ['approver', 'administrator'];
    over()
      .when(decide('b', true, { principal: 'dana', roles }, true), 2)
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    over()
      .when(decide('b', true, { principal: 'dana', roles: [...roles, 'platform_administrator'] }, true), 2)
      .thenAnswer({ httpStatus: 200 });
  });

  it('is refused where nothing is approved, and where no ceiling is exceeded', () => {
    asked()
      .when(decide('b', false, OWNER, true), 2)
      .thenAnswer({ httpStatus: 409 });
    const overrun = desk()
      .when(open('run', 500), 1)
      .when(recorded('x', 100), 2)
      .when(decide('x', true, OWNER, true), 3);
    overrun.thenAnswer({ httpStatus: 409 });
    expect(overrun.rows('escalation').map(({ doc }) => doc['phase'])).toEqual(['open']);
    expect(overrun.rows('reservation').map(({ doc }) => doc['reservation_id'])).toEqual([reservationOf('x')]);
  });
});
