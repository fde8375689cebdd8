import { describe, expect, it } from '@jest/globals';
import { entryView, plainPayload } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import type { AssumptionInvalidated, AssumptionReaffirmed } from '@recourse/messages';
import { fact, harness, memoryView, WAYS, wire } from '@recourse/testing';
import { assumptionsCore } from './assumptions.core.js';
import { SIDES_MAX } from './rules/assumption/dispute.decisions.js';

const REF = 'order/4711#not_shipped';

function event(
  type: string,
  eventId: string,
  statedAt: number,
  changes: Partial<AssumptionInvalidated> = {},
): RecordInput {
  const body: AssumptionReaffirmed = {
    event_id: eventId,
    tenant: 'acme',
    ref: REF,
    run_id: null,
    source: 'warehouse',
    statement: plainPayload({ at: eventId }),
    stated_at: statedAt,
  };
  const kind = type === 'AssumptionInvalidated' ? { source_kind: 'observation' } : {};
  return wire('recourse.assumption-events', type, { ...body, ...kind, ...changes }, { key: changes.ref ?? REF });
}

/** A context source as the registry has it. */
function source(name: string, terms: { readonly trust_permille?: number; readonly ttl_ms?: number }, tenant = 'acme') {
  const entry = { owner: 'ops', doc: 'd', sensitivity: 'internal', access: 'stream', ttl_ms: 60_000, ...terms };
  const body = JSON.stringify(entry);
  return fact('EntryRegistered', { kind: 'context_source', tenant, name, version: 1, digest: Buffer.alloc(32), body });
}

describe.each(WAYS)('the assumptions log, $way', ({ isRebuilt }) => {
  const start = (...registered: readonly ReturnType<typeof source>[]) => {
    const entries = memoryView(entryView);
    for (const one of registered) entries.append('sources', one);
    return harness(assumptionsCore(), { isRebuilt, views: { entries } });
  };

  it('records what a source declares, and what contradicts it later', () => {
    start()
      .when(event('AssumptionDeclared', 'e1', 1_000), 1_100)
      .then(fact('AssumptionStated', { event_id: 'e1', kind: 'declared', verdict: 'holds', superseded: false }))
      .when(event('AssumptionInvalidated', 'e2', 2_000), 2_100)
      .then(
        fact('AssumptionStated', {
          event_id: 'e2',
          kind: 'invalidated',
          verdict: 'invalidated',
          superseded: false,
          source_kind: 'observation',
        }),
      );
  });

  it.each(['observation', 'critic', 'human', 'verifier', 'tool_return'] as const)(
    'records that a contradiction came from %s (A58)',
    (source_kind) => {
      start()
        .when(event('AssumptionInvalidated', 'e1', 2_000, { source_kind }), 2_100)
        .then(fact('AssumptionStated', { event_id: 'e1', verdict: 'invalidated', source_kind }));
    },
  );

  it('keeps an older statement without effect', () => {
    const run = start()
      .when(event('AssumptionReaffirmed', 'e1', 5_000), 6_000)
      .when(event('AssumptionInvalidated', 'e2', 4_999), 6_001);
    run.then(fact('AssumptionStated', { event_id: 'e2', kind: 'invalidated', verdict: 'holds', superseded: true }));
    expect(run.rows('assumption').map((row) => row.doc.event_id)).toEqual(['e1']);
    expect(run.rows('statement')).toHaveLength(2);
  });

  it.each([
    [1_000, 2_000],
    [2_000, 1_000],
  ])(
    'keeps what two sources said of one ref, at %d and %d: the newer stands, whichever came first (D65)',
    (warehouseAt, carrierAt) => {
      const run = start()
        .when(event('AssumptionReaffirmed', 'w1', warehouseAt, { source: 'warehouse' }), 3_000)
        .when(event('AssumptionInvalidated', 'c1', carrierAt, { source: 'carrier' }), 3_001);
      const newer = carrierAt > warehouseAt ? 'c1' : 'w1';
      run.then(
        fact('AssumptionStated', {
          event_id: 'c1',
          source: 'carrier',
          verdict: newer === 'c1' ? 'invalidated' : 'holds',
          superseded: newer !== 'c1',
        }),
      );
      expect(run.rows('statement')).toHaveLength(2);
      expect(run.rows('assumption').map((row) => row.doc.event_id)).toEqual([newer]);
    },
  );

  it('lists who contradicts whom, whichever came first, until the sources agree (D65)', () => {
    for (const isLate of [false, true]) {
      const run = start()
        .when(event('AssumptionReaffirmed', 'w1', 1_000, { source: 'warehouse' }), 3_000)
        .when(event('AssumptionInvalidated', 'c1', isLate ? 500 : 2_000, { source: 'carrier' }), 3_001);
      const shown = () => run.rows('assumption').map(({ doc }) => [doc['is_disputed'], doc['disputed_since']]);
      expect(run.rows('assumption')[0]?.doc).toMatchObject({
        event_id: isLate ? 'w1' : 'c1',
        is_disputed: true,
        disputed_since: 3_001,
        sides: [
          { source: 'carrier', verdict: 'invalidated', event_id: 'c1' },
          { source: 'warehouse', verdict: 'holds', event_id: 'w1' },
        ],
      });
      run.when(event('AssumptionInvalidated', 'w2', 2_500, { source: 'warehouse' }), 3_002);
      expect(shown()).toEqual([[false, null]]);
      run.when(event('AssumptionReaffirmed', 'w3', 2_600, { source: 'warehouse' }), 3_003);
      expect(shown()).toEqual([[true, 3_003]]);
    }
  });

  it('calls no source that changed its mind a contradiction, and keeps the newest of each', () => {
    const run = start()
      .when(event('AssumptionReaffirmed', 'w1', 1_000), 3_000)
      .when(event('AssumptionInvalidated', 'w2', 2_000), 3_001)
      .when(event('AssumptionReaffirmed', 'w0', 900), 3_002);
    expect(run.rows('assumption')[0]?.doc).toMatchObject({
      is_disputed: false,
      sides: [{ source: 'warehouse', verdict: 'invalidated', event_id: 'w2' }],
    });
    for (let at = 0; at < 30; at += 1)
      run.when(event('AssumptionInvalidated', `s${String(at)}`, 3_000 + at, { source: `source ${String(at)}` }), 4_000);
    expect(run.rows('assumption')[0]?.doc['sides']).toHaveLength(SIDES_MAX);
  });

  it('lets the later record stand when both name one instant', () => {
    start()
      .when(event('AssumptionReaffirmed', 'e1', 5_000), 6_000)
      .when(event('AssumptionInvalidated', 'e2', 5_000), 6_001)
      .then(fact('AssumptionStated', { verdict: 'invalidated', superseded: false }));
  });

  it('lets no stranger lift what a registered source said is false, before or after it is heard (D65)', () => {
    const agent = { source: 'agent:payer' };
    const after = start(source('warehouse', { trust_permille: 900 }))
      .when(event('AssumptionInvalidated', 'w1', 1_000), 3_000)
      .when(event('AssumptionReaffirmed', 'a1', 2_000, agent), 3_001);
    after.then(
      fact('AssumptionStated', {
        event_id: 'a1',
        verdict: 'invalidated',
        superseded: true,
        outweighed_by: 'warehouse',
      }),
    );
    expect(after.rows('assumption')[0]?.doc).toMatchObject({ event_id: 'w1', is_disputed: true });
    const before = start(source('warehouse', { trust_permille: 900 }))
      .when(event('AssumptionDeclared', 'a1', 2_000, agent), 3_000)
      .when(event('AssumptionInvalidated', 'w1', 1_000), 3_001);
    before.then(fact('AssumptionStated', { event_id: 'w1', verdict: 'invalidated', superseded: false }));
    expect(before.rows('assumption')[0]?.doc).toMatchObject({ event_id: 'w1', is_disputed: true });
    after
      .when(event('AssumptionReaffirmed', 'w2', 2_500), 3_002)
      .then(fact('AssumptionStated', { event_id: 'w2', verdict: 'holds', superseded: false }));
  });

  it.each([
    ['is registered for another tenant', source('warehouse', { trust_permille: 900 }, 'globex'), 3_000],
    ['has no trust of its own', source('warehouse', {}), 3_000],
    ['is over by its terms', source('warehouse', { trust_permille: 900, ttl_ms: 100 }), 3_000],
  ])('weighs a word as a stranger’s where its source %s', (_, registered, at) => {
    start(registered)
      .when(event('AssumptionInvalidated', 'w1', 1_000), at)
      .when(event('AssumptionReaffirmed', 'a1', 2_000, { source: 'agent:payer' }), at + 1)
      .then(fact('AssumptionStated', { event_id: 'a1', verdict: 'holds', superseded: false, outweighed_by: null }));
  });

  const DAY = { trust_permille: 900, ttl_ms: 86_400_000 };
  const MINUTE = { trust_permille: 900, ttl_ms: 60_000 };
  const carrier = { source: 'carrier' };
  const agent = { source: 'agent:x' };

  it('lets nothing fall by a word that it holds, though what lifted an older one has grown old (D65)', () => {
    const lifted = () =>
      start(source('warehouse', DAY), source('carrier', MINUTE))
        .when(event('AssumptionInvalidated', 'w1', 1_000), 1_000)
        .when(event('AssumptionReaffirmed', 'c1', 2_000, carrier), 2_000);
    lifted()
      .when(event('AssumptionDeclared', 'a1', 3_600_000, agent), 3_600_000)
      .then(fact('AssumptionStated', { kind: 'declared', verdict: 'holds', superseded: false, outweighed_by: null }));
    lifted()
      .when(event('AssumptionInvalidated', 'x1', 3_000, agent), 3_000)
      .when(event('AssumptionReaffirmed', 'x2', 3_600_000, agent), 3_600_000)
      .then(fact('AssumptionStated', { verdict: 'holds', outweighed_by: null }));
  });

  it('is lifted by a word that was heard before it, however late it comes itself (D65)', () => {
    start(source('warehouse', DAY), source('carrier', MINUTE))
      .when(event('AssumptionReaffirmed', 'c1', 2_000, carrier), 2_000)
      .when(event('AssumptionInvalidated', 'w1', 1_000), 3_600_000)
      .then(fact('AssumptionStated', { verdict: 'holds', superseded: true }));
  });

  it('keeps a word against a fact in mind, however many say since that it holds (D65)', () => {
    const run = start(source('warehouse', DAY))
      .when(event('AssumptionInvalidated', 'w1', 1_000), 1_000)
      .when(event('AssumptionInvalidated', 'x1', 1_500, agent), 1_500);
    for (let at = 0; at < SIDES_MAX; at += 1)
      run.when(
        event('AssumptionDeclared', `s${String(at)}`, 2_000 + at, { source: `agent:${String(at)}` }),
        2_000 + at,
      );
    run
      .when(event('AssumptionReaffirmed', 'x2', 3_000, agent), 3_000)
      .then(fact('AssumptionStated', { verdict: 'invalidated', outweighed_by: 'warehouse' }));
  });

  it('is not pinned by a source whose clock is in the year 2100', () => {
    start()
      .when(event('AssumptionReaffirmed', 'e1', 4_102_444_800_000), 6_000)
      .when(event('AssumptionInvalidated', 'e2', 6_001), 6_002)
      .then(fact('AssumptionStated', { verdict: 'invalidated', superseded: false }));
  });

  it('keeps the scopes of a run and of the tenant apart', () => {
    const run = start()
      .when(event('AssumptionInvalidated', 'e1', 1_000), 1_000)
      .when(event('AssumptionReaffirmed', 'e2', 500, { run_id: 'run-1' }), 1_001);
    run.then(fact('AssumptionStated', { run_id: 'run-1', verdict: 'holds', superseded: false }));
    expect(run.rows('assumption').map((row) => [row.doc.run_id, row.doc.verdict])).toEqual(
      expect.arrayContaining([
        [null, 'invalidated'],
        ['run-1', 'holds'],
      ]),
    );
  });

  it('takes the same event again as nothing', () => {
    start()
      .when(event('AssumptionInvalidated', 'e1', 1_000), 1_000)
      .when(event('AssumptionInvalidated', 'e1', 1_000), 1_001)
      .thenNothing();
  });

  it('records the same id with other content as a conflict, once', () => {
    start()
      .when(event('AssumptionInvalidated', 'e1', 1_000), 1_000)
      .when(event('AssumptionReaffirmed', 'e1', 1_000), 1_001)
      .then(fact('StatementConflicted', { event_id: 'e1', ref: REF }))
      .when(event('AssumptionReaffirmed', 'e1', 1_000), 1_002)
      .thenNothing();
  });

  it.each([
    ['AssumptionInvalidated', 'AssumptionReaffirmed'],
    ['AssumptionReaffirmed', 'AssumptionInvalidated'],
  ])(
    'hears %s of one source and %s of another under one id, each once: a stranger uses up nobody’s id',
    (one, other) => {
      const stranger = { source: 'agent:x' };
      start()
        .when(event(one, 'e1', 1_000, stranger), 1_000)
        .when(event(other, 'e1', 2_000), 2_000)
        .then(fact('AssumptionStated', { event_id: 'e1', source: 'warehouse', superseded: false }))
        .when(event(one, 'e1', 1_000, stranger), 2_001)
        .thenNothing()
        .when(event(other, 'e1', 2_000), 2_002)
        .thenNothing()
        .when(event(other, 'e1', 2_500, stranger), 2_500)
        .then(fact('StatementConflicted', { event_id: 'e1' }))
        .when(event(other, 'e1', 2_500, stranger), 2_501)
        .thenNothing()
        .when(event(one, 'e1', 2_600), 2_600)
        .then(fact('StatementConflicted', { event_id: 'e1' }));
    },
  );

  it('hears one event for each run that it is told for, and for all of them', () => {
    const run = start();
    for (const [at, run_id] of ['run-1', 'run-2', null].entries())
      run
        .when(event('AssumptionInvalidated', 'e1', 1_000, { run_id }), 1_000 + at)
        .then(fact('AssumptionStated', { event_id: 'e1', run_id, verdict: 'invalidated' }))
        .when(event('AssumptionInvalidated', 'e1', 1_000, { run_id }), 1_000 + at)
        .thenNothing();
    run
      .when(event('AssumptionReaffirmed', 'e1', 1_000, { run_id: 'run-2' }), 1_010)
      .then(fact('StatementConflicted', { event_id: 'e1' }));
  });

  it('records other content as a conflict, once, though its source has said something newer since', () => {
    start()
      .when(event('AssumptionDeclared', 'e1', 1_000), 1_000)
      .when(event('AssumptionReaffirmed', 'e2', 1_500), 1_500)
      .when(event('AssumptionInvalidated', 'e1', 2_000), 2_000)
      .then(fact('StatementConflicted', { event_id: 'e1' }))
      .when(event('AssumptionInvalidated', 'e1', 2_000), 2_001)
      .thenNothing()
      .when(event('AssumptionInvalidated', 'e1', 2_000, { source: 'carrier' }), 2_002)
      .then(fact('AssumptionStated', { event_id: 'e1', source: 'carrier', verdict: 'invalidated' }));
  });

  it('takes the same id about another ref or of another tenant as another event', () => {
    start()
      .when(event('AssumptionInvalidated', 'e1', 1_000), 1_000)
      .when(event('AssumptionInvalidated', 'e1', 1_000, { ref: 'order/4712#not_shipped' }), 1_001)
      .then(fact('AssumptionStated', { ref: 'order/4712#not_shipped' }))
      .when(event('AssumptionInvalidated', 'e1', 1_000, { tenant: 'other' }), 1_002)
      .then(fact('AssumptionStated', { tenant: 'other' }));
  });

  it('parks what is keyed by something else, and what names a commit', () => {
    start()
      .when({ ...event('AssumptionInvalidated', 'e1', 1_000), key: 'elsewhere' }, 1_000)
      .thenParked('KEY_MISMATCH')
      .when(event('AssumptionInvalidated', 'e2', 1_000, { ref: 'commit/mut_1#stands' }), 1_001)
      .thenParked('REF_RESERVED');
  });

  it('takes no statement for all runs about what names no subject, and takes it for one', () => {
    for (const ref of ['not_shipped', '#not_shipped'])
      start()
        .when(event('AssumptionInvalidated', 'e1', 2_000, { ref }), 2_100)
        .thenParked('REF_UNSCOPED');
    start()
      .when(event('AssumptionInvalidated', 'e1', 2_000, { ref: 'not_shipped', run_id: 'run-1' }), 2_100)
      .then(fact('AssumptionStated', { ref: 'not_shipped', run_id: 'run-1', verdict: 'invalidated' }));
    for (const ref of ['order/4711', 'order#4711', 'release/42#smoke_test_passes'])
      start()
        .when(event('AssumptionInvalidated', 'e1', 2_000, { ref }), 2_100)
        .then(fact('AssumptionStated', { ref, run_id: null }));
  });
});
