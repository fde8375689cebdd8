// A steady rise of rollbacks and a storm, through the log: the one asks a person and holds nothing, the other opens a breaker (E47).
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { fact, WAYS } from '@recourse/testing';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import type { AdmissionLimits } from '../rules/admission/admission.messages.js';
import type { TrendDoc } from '../rules/trend/trend.messages.js';
import { command, envelope, executed, ledger, refund, state, statement } from './ledger.testing.js';

const HOUR = 3_600_000;
const REVIEW = 400_000;
const TREND = { windowMs: HOUR, min: 4, factor: 2 };

describe.each(WAYS)('rollbacks that come faster, $way', ({ isRebuilt }) => {
  const start = (limits: Partial<AdmissionLimits> = {}) => {
    const on = ledger({ isRebuilt, admission: { ...NO_LIMITS, trend: TREND, ...limits }, reviewDeadlineMs: REVIEW });
    let made = 0;
    /** One effect of an agent, and a statement against it a moment later. */
    function fallAt(at: number, agent = 'agent-1', event?: string): void {
      const name = `m${String((made += 1))}`;
      const ref = `order/${name}#open`;
      on.run.when(
        executed(
          refund({
            event_id: `told-${name}`,
            effect_key: name,
            call_id: `call-${name}`,
            agent_id: agent,
            contract_digest: null,
            assumption_refs: [ref],
            committed_at: 1,
          }),
        ),
        at,
      );
      on.run.when(state(on.assumptions, statement('invalidated', event ?? `ev-${name}`, { ref })), at + 1);
    }
    /** As many in each hour, from one on. */
    function hours(from: number, counts: readonly number[], agent?: string): number {
      for (const [place, count] of counts.entries())
        for (let nth = 0; nth < count; nth += 1) fallAt((from + place) * HOUR + nth * 10, agent);
      return from + counts.length;
    }
    const trends = (): readonly TrendDoc[] => on.run.rows('trend').map(({ doc }) => doc as TrendDoc); // rows of this kind are trends
    const alerts = () => on.run.records().filter(({ type }) => type === 'TrendRose');
    const rising = (): readonly TrendDoc[] => trends().filter(({ phase }) => phase === 'rising');
    return { ...on, fallAt, hours, alerts, rising };
  };
  const review = (
    { trend_id, run_id, scope, name }: TrendDoc,
    by = 'olga',
    more: Readonly<Record<string, unknown>> = {},
    roles: readonly string[] = ['operator'],
  ): RecordInput =>
    command('ReviewTrend', envelope(by, roles, { command_id: `cmd-${by}-${String(trend_id)}` }), {
      run_id,
      trend_id,
      scope,
      name,
      reason: 'the feed of the warehouse is stale since noon',
      ...more,
    });

  it('steadily are told to a person with a deadline, of tenant and agent, once; nothing is held and no breaker opens', () => {
    const on = start();
    const next = on.hours(10, [1, 1, 1, 1, 4, 5, 6]);
    expect(on.alerts()).toEqual([]);
    on.fallAt(next * HOUR);
    expect(on.alerts().map(({ body }) => body)).toMatchObject([
      {
        scope: 'tenant',
        name: 'acme',
        counts: [4, 5, 6],
        usual_permille: 1_000,
        owner: 'role:operator',
        deadline_at: next * HOUR + 1 + REVIEW,
      },
      { scope: 'agent', name: 'agent-1', counts: [4, 5, 6] },
    ]);
    expect(on.rising()).toMatchObject([{ owner: 'role:operator' }, { owner: 'role:operator' }]);
    for (let nth = 1; nth < 6; nth += 1) on.fallAt(next * HOUR + nth * 10);
    on.hours(next + 1, [6, 1]);
    expect(on.alerts()).toHaveLength(2);
    expect(on.run.records().filter(({ type }) => type === 'TriggerHeld' || type === 'BreakerOpened')).toEqual([]);
    expect(on.run.rows('rollback').every(({ doc }) => doc['phase'] === 'marked')).toBe(true);
  });

  it('in a burst open a breaker, and raise no alert', () => {
    const on = start({ storm: { limit: 8, windowMs: 60_000 } });
    const next = on.hours(10, [1, 1, 1, 1, 1, 1, 10]);
    on.hours(next, [1, 1, 1, 1]);
    expect(on.run.records().filter(({ type }) => type === 'BreakerOpened')).not.toEqual([]);
    expect(on.alerts()).toEqual([]);
    // Nor where no breaker is set, or somebody closed it.
    const free = start();
    free.hours(10, [1, 1, 1, 1, 1, 1, 10, 1, 1, 1]);
    expect(free.alerts()).toEqual([]);
  });

  it('at a steady rate, or a few of them, tell nobody', () => {
    const on = start();
    on.hours(10, [5, 5, 5, 5, 6, 5, 5, 6]);
    expect(on.alerts()).toEqual([]);
    const few = start();
    few.hours(10, [0, 1, 0, 0, 0, 1, 3, 3, 3, 1]);
    expect(few.alerts()).toEqual([]);
  });

  it('are those of the agent whose actions fell', () => {
    const on = start();
    // The others go on as ever, and the tenant as a whole does not rise.
    for (let hour = 10; hour < 17; hour += 1) {
      on.hours(hour, [hour < 14 ? 1 : 5], 'agent-2');
      for (let nth = 0; nth < 3; nth += 1) on.fallAt(hour * HOUR + 1_000 + nth * 10);
    }
    on.fallAt(17 * HOUR, 'agent-2');
    expect(on.alerts().map(({ body }) => [body['scope'], body['name']])).toEqual([['agent', 'agent-2']]);
  });

  it('are those of the agent however it spells its name', () => {
    const on = start();
    for (let hour = 10; hour < 17; hour += 1)
      on.hours(hour, [hour < 14 ? 1 : 4], hour % 2 === 0 ? 'agent:Agent-1' : 'agent-1');
    on.fallAt(17 * HOUR, 'AGENT-1');
    expect(on.alerts().map(({ body }) => [body['scope'], body['name']])).toEqual([
      ['tenant', 'acme'],
      ['agent', 'agent-1'],
    ]);
  });

  it('of one event count as one', () => {
    const on = start();
    for (let hour = 10; hour < 18; hour += 1)
      for (let nth = 0; nth < (hour < 14 ? 1 : 6); nth += 1)
        on.fallAt(hour * HOUR + nth * 10, 'agent-1', `ev-${String(hour)}`);
    expect(on.alerts()).toEqual([]);
  });

  it('are over once a person has looked, and are the usual rate then', () => {
    const on = start();
    const next = on.hours(10, [1, 1, 1, 1, 5, 5, 5, 1]);
    for (const trend of on.rising())
      on.run
        .when(review(trend), next * HOUR)
        .then(fact('TrendReviewed', { trend_id: trend.trend_id, by: 'olga' }))
        .thenAnswer({ httpStatus: 200, body: { reviewed: true } });
    expect(on.rising()).toEqual([]);
    on.hours(next + 1, [8, 8, 8, 1]);
    expect(on.alerts()).toHaveLength(2);
  });

  it('are not ended by a program, without a reason, by another tenant, or twice', () => {
    const on = start();
    const next = on.hours(10, [1, 1, 1, 1, 5, 5, 5, 1]) * HOUR;
    const [trend] = on.rising();
    if (trend === undefined) throw new Error('nothing rises');
    on.run
      .when(review(trend, 'service:cleaner'), next)
      .then()
      .thenAnswer({ httpStatus: 403, code: 'JUDGE_NOT_A_PERSON' });
    on.run
      .when(review(trend, 'otto', { reason: ' ' }), next)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
    on.run
      .when(review(trend, 'pia', { name: 'agent-9' }), next)
      .then()
      .thenAnswer({ httpStatus: 404, code: 'NOT_RISING' });
    on.run
      .when(review(trend, 'rita', {}, ['agent']), next)
      .then()
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    on.run.when(review(trend), next).then(fact('TrendReviewed'));
    on.run.when(review(trend, 'quinn'), next).then().thenAnswer({ httpStatus: 404, code: 'NOT_RISING' });
  });

  it('are not ended by the agent, nor by who owns it', () => {
    const on = start();
    const body = JSON.stringify({
      owner: 'otto',
      doc: 'd',
      agent: 'agent-1',
      purpose: 'p',
      allowed: ['x'],
      denied: [],
    });
    const named = { kind: 'agent_charter', tenant: 'acme', name: 'a', version: 1, digest: Buffer.alloc(32), body };
    on.entries.append('a', fact('EntryRegistered', named));
    const next = on.hours(10, [1, 1, 1, 1, 5, 5, 5, 1]) * HOUR;
    const trend = on.rising().find(({ scope }) => scope === 'agent');
    if (trend === undefined) throw new Error('nothing rises');
    for (const by of ['agent-1', 'Otto'])
      on.run.when(review(trend, by), next).then().thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' });
    on.run.when(review(trend), next).then(fact('TrendReviewed'));
  });

  it('are not counted where nobody asked to be told', () => {
    const on = start({ trend: null });
    on.hours(10, [1, 1, 1, 1, 5, 5, 5, 1]);
    expect([on.alerts(), on.run.rows('trend')]).toEqual([[], []]);
  });
});
