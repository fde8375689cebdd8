import { describe, expect, it } from '@jest/globals';
import { endpoint, RECOVERIES, WAITING } from '../../items.testing.js';
import type { Thing } from '../item/item.messages.js';
import { newsOf, remindAt, testOf } from './occasion.decisions.js';

const PLACE = { topic: RECOVERIES, partition: 0, seq: 9, at: 2_000 };
const CHAT = endpoint();
const REMINDED = endpoint({ name: 'pager', remindBeforeMs: 2_000 });
const item =
  WAITING.item ??
  (() => {
    throw new Error('it waits');
  })();
const rested: Thing = { ...WAITING, item: null };

describe('an item that opens', () => {
  it('is told once to every endpoint that hears of it', () => {
    const { queued, superseded } = newsOf(
      rested,
      WAITING,
      [
        CHAT,
        endpoint({ name: 'globex', tenants: ['globex'] }),
        endpoint({ name: 'tasks', kinds: ['task'] }),
        endpoint({ name: 'ours', tenants: ['acme'], kinds: ['approval'] }),
      ],
      PLACE,
    );
    expect(queued.map((one) => [one.endpoint, one.notice.occasion, one.nextAt])).toEqual([
      ['chat', 'opened', 1_000],
      ['ours', 'opened', 1_000],
    ]);
    expect(superseded).toEqual([]);
  });

  it('carries its facts, and a webhook id that is always the same', () => {
    const [one] = newsOf(undefined, WAITING, [CHAT], PLACE).queued;
    expect(one).toMatchObject({
      id: newsOf(rested, WAITING, [CHAT], { ...PLACE, at: 77 }).queued[0]?.id,
      tenant: 'acme',
      state: 'queued',
      attempts: 0,
      about: { key: 'step:step-1', opening: item.opening },
      notice: {
        item: {
          kind: 'approval',
          id: 'step-1',
          runId: 'run-1',
          recoveryId: 'rec-1',
          stepId: 'step-1',
          capability: 'payments.reverse_refund',
          reason: 'HIGH_IMPACT',
          owner: 'role:approver',
          runbook: 'runbooks/refunds.md',
          requiredApprovals: 1,
          deadlineAt: 11_000,
        },
      },
    });
    expect(one?.id).toMatch(/^msg_[0-9a-f]{32}$/);
  });

  it('has another id for another endpoint, waiting, occasion or deadline', () => {
    const other = { ...WAITING, item: { ...item, opening: 'recourse.recoveries/0/8' } };
    const later = { ...WAITING, item: { ...item, deadlineAt: 12_000 } };
    const all = [
      ...newsOf(rested, WAITING, [CHAT, REMINDED], PLACE).queued,
      ...newsOf(rested, other, [CHAT], PLACE).queued,
      ...newsOf(WAITING, later, [REMINDED], PLACE).queued,
    ];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all).toHaveLength(5);
  });

  it('is told of again before its deadline, where the endpoint asks for that', () => {
    const { queued } = newsOf(rested, WAITING, [REMINDED], PLACE);
    expect(queued.map(({ notice, nextAt }) => [notice.occasion, nextAt])).toEqual([
      ['opened', 1_000],
      ['reminder', 9_000],
    ]);
  });
});

describe('a reminder', () => {
  it.each([
    [2_000, 9_000],
    [5_000, 6_000],
    [60_000, 6_000],
    [null, null],
  ])('of %p ms before comes at %p: never before half of the time', (before, at) => {
    expect(remindAt(item, before)).toBe(at);
  });
  it('comes never for an item without time', () => {
    expect(remindAt({ openedAt: 5, deadlineAt: 5 }, 2_000)).toBeNull();
  });
});

describe('an item that goes on', () => {
  it('is told to nobody when nothing but approvals changed', () => {
    expect(newsOf(WAITING, { ...WAITING, item: { ...item, approvals: 1 } }, [REMINDED], PLACE)).toEqual({
      queued: [],
      superseded: [],
    });
  });

  it('has its reminder moved with its deadline', () => {
    const { queued, superseded } = newsOf(
      WAITING,
      { ...WAITING, item: { ...item, deadlineAt: 21_000 } },
      [CHAT, REMINDED],
      PLACE,
    );
    expect(queued.map(({ endpoint: to, notice, nextAt }) => [to, notice.occasion, nextAt])).toEqual([
      ['pager', 'reminder', 19_000],
    ]);
    expect(superseded).toEqual([{ key: 'step:step-1', opening: item.opening, only: 'reminder' }]);
  });
});

describe('an item that ends', () => {
  it.each([
    ['rests', rested],
    ['is forgotten', undefined],
  ] as const)('takes what is queued about it along: its thing %s', (_, after) => {
    expect(newsOf(WAITING, after, [CHAT, REMINDED], PLACE)).toEqual({
      queued: [],
      superseded: [{ key: 'step:step-1', opening: item.opening, only: null }],
    });
  });

  it('is told to who asked for that', () => {
    const { queued } = newsOf(WAITING, undefined, [CHAT, endpoint({ name: 'board', tellsEnds: true })], PLACE);
    expect(queued.map(({ endpoint: to, notice, nextAt }) => [to, notice.occasion, nextAt])).toEqual([
      ['board', 'ended', 2_000],
    ]);
  });

  it('makes way for the next of the same thing', () => {
    const next: Thing = { ...WAITING, item: { ...item, kind: 'manual', opening: 'recourse.recoveries/0/9' } };
    const { queued, superseded } = newsOf(WAITING, next, [CHAT], PLACE);
    expect([queued.map(({ about }) => about?.opening), superseded.map(({ opening }) => opening)]).toEqual([
      ['recourse.recoveries/0/9'],
      [item.opening],
    ]);
  });
});

describe('a test', () => {
  it('is about nothing, and each is its own', () => {
    const [one, other] = [testOf(CHAT, 'acme', 'a', 5), testOf(CHAT, 'acme', 'b', 5)];
    expect([one.about, one.notice.item, one.notice.occasion, one.id === other.id]).toEqual([null, null, 'test', false]);
  });
});
