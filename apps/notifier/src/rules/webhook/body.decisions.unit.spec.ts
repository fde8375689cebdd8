import { describe, expect, it } from '@jest/globals';
import {
  BUDGETS,
  CANARY,
  endpoint,
  MUTATIONS,
  RECOVERIES,
  recordOf,
  recordTypesOf,
  WAITING,
} from '../../items.testing.js';
import { newsOf, tellingOf, testOf } from '../delivery/occasion.decisions.js';
import type { Delivery } from '../delivery/delivery.messages.js';
import { hear } from '../../core.js';
import { keyOf } from '../item/item.messages.js';
import type { Thing } from '../item/item.messages.js';
import { bodyOf } from './body.decisions.js';
import { SHAPES } from './endpoint.messages.js';

const BASES = {
  ledger: 'https://ledger.example.org',
  recoveries: 'https://recoveries.example.org',
  budgets: 'https://budgets.example.org',
};
const EVERYTHING = [endpoint({ remindBeforeMs: 1_000, tellsEnds: true })];
const PLACE = { topic: RECOVERIES, partition: 0, seq: 1, at: 0 };
const [OPENED] = newsOf(undefined, WAITING, [endpoint()], PLACE).queued;
const notice = (
  OPENED ??
  (() => {
    throw new Error('it opened');
  })()
).notice;

/** Whatever is told of each record of the logs, when it is the first and when it follows an open item. */
function everythingTold(): readonly Delivery[] {
  return ([MUTATIONS, RECOVERIES, BUDGETS] as const).flatMap((log) =>
    recordTypesOf(log).flatMap((type) => {
      const record = recordOf(log, type, {
        deadline_at: 9_000,
        ...(type === 'RecoveryPlanned' ? { decision: 'request_approval' } : {}),
      });
      return [undefined, WAITING].flatMap((known) =>
        hear(log, record)
          .then((key) => (known !== undefined && key === keyOf(known) ? known : undefined), {
            topic: log,
            partition: 0,
            seq: 8,
            at: 1,
          })
          .flatMap((change) =>
            change.op === 'tell'
              ? tellingOf(change.thing, EVERYTHING).queued
              : newsOf(known, change.op === 'put' ? change.thing : undefined, EVERYTHING, PLACE).queued,
          ),
      );
    }),
  );
}

describe('an instant that no calendar has', () => {
  it.each(SHAPES)(
    'is told as the last one of the calendar, so that a receiver hears of what it is about: %s',
    (shape) => {
      const beyond = { ...notice, occurredAt: 8.64e15 + 1, item: notice.item && { ...notice.item, deadlineAt: 9e15 } };
      const body = bodyOf(shape, beyond, BASES);
      expect(body.split('+275760-09-13T00:00:00.000Z').length).toBe(shape === 'slack' ? 2 : 3);
    },
  );
});

describe('a body', () => {
  it('holds no personal data: nothing of what any record says in words', () => {
    const told = everythingTold();
    expect(new Set(told.map((one) => one.notice.item?.kind)).size).toBeGreaterThanOrEqual(8);
    for (const word of [CANARY, ...CANARY.split(' '), Buffer.from(CANARY).toString('base64')]) {
      for (const shape of SHAPES) for (const one of told) expect(bodyOf(shape, one.notice, BASES)).not.toContain(word);
    }
    expect(JSON.stringify(told)).not.toContain('asha');
  });

  it('gives no power: it has no digest, no token, and links without either', () => {
    for (const shape of SHAPES) {
      for (const one of everythingTold())
        expect(bodyOf(shape, one.notice, BASES)).not.toMatch(/digest|token|secret|approve"|lease/i);
      expect(
        [...bodyOf(shape, notice, BASES).matchAll(/https:\/\/[^"\\]+/g)]
          .map(([url]) => url)
          .filter(
            (url) => new URL(url).search.replace('?run_id=run-1', '').replace('?phase=overdue&run_id=run-1', '') !== '',
          ),
      ).toEqual([]);
    }
  });

  it('for programs says what waits, since when, until when, and where', () => {
    expect(JSON.parse(bodyOf('generic', notice, BASES))).toEqual({
      type: 'recourse.item.opened',
      occurred_at: '1970-01-01T00:00:01.000Z',
      tenant: 'acme',
      item_kind: 'approval',
      item_id: 'step-1',
      step_id: 'step-1',
      recovery_id: 'rec-1',
      run_id: 'run-1',
      capability: 'payments.reverse_refund',
      reason: 'HIGH_IMPACT',
      owner: 'role:approver',
      runbook: 'runbooks/refunds.md',
      log: null,
      required_approvals: 1,
      deadline_at: '1970-01-01T00:00:11.000Z',
      links: {
        item: 'https://recoveries.example.org/v1/reviews/step-1',
        run: 'https://recoveries.example.org/v1/recoveries?run_id=run-1',
      },
    });
  });

  it('for a chat is a headline, the same facts as plain text, and one way to the item', () => {
    const body = JSON.parse(bodyOf('slack', notice, BASES)) as {
      readonly text: string;
      readonly blocks: readonly Readonly<Record<string, unknown>>[];
    };
    expect(body.text).toBe('Waits for a person: approval');
    expect(body.blocks.map(({ type }) => type)).toEqual(['header', 'section', 'actions']);
    expect(JSON.stringify(body.blocks)).toContain('Reason: HIGH_IMPACT');
    expect(JSON.stringify(body.blocks)).toContain('Runbook: runbooks/refunds.md');
    expect(JSON.stringify(body.blocks)).not.toContain('mrkdwn');
    expect(JSON.stringify(body.blocks[2])).toContain('https://recoveries.example.org/v1/reviews/step-1');
  });

  it('links a question about a budget to the budgets, and keeps ids in their place', () => {
    const asked: Thing = { ...WAITING, thing: 'escalation', id: 'res-1', runId: 'a/b?c' };
    const [one] = newsOf(undefined, asked, [endpoint()], PLACE).queued;
    expect(JSON.parse(bodyOf('generic', one?.notice ?? notice, BASES))).toMatchObject({
      links: { item: 'https://budgets.example.org/v1/escalations?run_id=a%2Fb%3Fc' },
    });
  });

  it.each<readonly [string, Partial<Thing>, string, string]>([
    ['a step at its review', { id: 'step-1' }, '/reviews/step-1', '/runs/run-1'],
    ['an agent at what it earned', { thing: 'autonomy', id: 'a/b' }, '/autonomy/a%2Fb', '/runs/run-1'],
    ['a parked record at the audit', { thing: 'parked' }, '/audit', '/runs/run-1'],
    ['a ceiling at the exposure', { thing: 'ceiling', runId: '' }, '/exposure', '/runs/'],
    ['a weaker contract at the contracts', { thing: 'proposal' }, '/contracts', '/runs/run-1'],
    [
      'a question at its item, of a run that reads like no text',
      { thing: 'escalation', id: 'res-1', runId: 'true' },
      '/items/approval/res-1?run=%22true%22',
      '/runs/true',
    ],
    ['what is of no run at its item', { thing: 'trend', id: 't', runId: '' }, '/items/approval/t', '/runs/'],
    [
      'a run that a browser would follow',
      { thing: 'task', id: 't', runId: '..' },
      '/items/approval/t?run=%22..%22',
      '/runs/~..',
    ],
  ])('shows a person %s, where there is a console', (_what, more, item, run) => {
    const [one] = newsOf(undefined, { ...WAITING, ...more }, [endpoint()], PLACE).queued;
    const console = 'https://console.example.org';
    expect(JSON.parse(bodyOf('generic', one?.notice ?? notice, { ...BASES, console }))).toMatchObject({
      links: { item: `${console}${item}`, run: `${console}${run}` },
    });
    if (one !== undefined) expect(bodyOf('slack', one.notice, { ...BASES, console })).toContain(`"${console}${item}"`);
  });

  it('for a chat keeps within what Slack takes: a name in half is whole, and an address too long is no button', () => {
    const long: Thing = { ...WAITING, thing: 'escalation', runId: `${'r'.repeat(1_994)}\u{1F600}${'/'.repeat(400)}` };
    const [one] = newsOf(undefined, long, [endpoint()], PLACE).queued;
    const text = bodyOf('slack', one?.notice ?? notice, BASES);
    const { blocks } = JSON.parse(text) as { readonly blocks: readonly { readonly type: string }[] };
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'section']);
    expect(text).toContain(`Run: ${'r'.repeat(1_994)}\uFFFD"`);
    expect(text).toContain(`Item: ${WAITING.id}`);
  });

  it('of a test names no item', () => {
    const { notice: test } = testOf({ name: 'chat' }, 'acme', 'n', 5);
    expect(JSON.parse(bodyOf('generic', test, BASES))).toEqual({
      type: 'recourse.test',
      occurred_at: '1970-01-01T00:00:00.005Z',
      tenant: 'acme',
    });
    expect(JSON.parse(bodyOf('slack', test, BASES))).toMatchObject({ text: 'This endpoint works' });
  });
});
