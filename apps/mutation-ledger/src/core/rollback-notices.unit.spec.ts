// Notices: one for each record of the mutations log, with its members in their order (docs/design/lineage.md; P9, L17).
import { describe, expect, it } from '@jest/globals';
import { createCodecs, fallenIn, fellTogether, settledIn } from '@recourse/messages';
import type { MutationsFell, RollbackSettled, SettledCommit, ToolExecuted } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import type { AcceptedRecord, Doc } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { eachMember, WAYS } from '@recourse/testing';
import { EVIDENCE, executed, ledger, NOW, REF, refund, RUN, state, statement, TENANT } from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';
import { mutationIdOf } from '../core.js';
import { PARENTS_MAX, noticesOf } from './consumers.part.js';

/** Effects of one run that rely on one ref. */
function effects(count: number, more: (at: number) => Partial<ToolExecuted> = () => ({})): readonly ToolExecuted[] {
  return Array.from({ length: count }, (_, at) =>
    refund({ event_id: `ev-${String(at)}`, call_id: `call-${String(at)}`, effect_key: `e-${String(at)}`, ...more(at) }),
  );
}

/** Their ref falls, and they with it. */
function fall(on: Ledger, told: readonly ToolExecuted[], fact: Doc = { shipped: true }): Ledger['run'] {
  told.forEach((one, at) => on.run.when(executed(one), NOW + at));
  const stated = statement('invalidated', EVIDENCE.event_id, { statement: plainPayload(fact as never) }); // JSON
  return on.run.when(state(on.assumptions, stated), NOW + told.length);
}

const accepted = (type: string, body: Doc): AcceptedRecord => ({
  ...{ type, body, seq: 7, decidedAt: NOW },
  ...{ hash: Buffer.alloc(32, 7), prevHash: Buffer.alloc(32, 6) },
});

describe.each(WAYS)('the notice of mutations that fell together, $way', ({ isRebuilt }) => {
  it('names each with its rollback, in the order of their marks, and why they fell once', () => {
    const told = effects(3, (at) => ({ agent_id: `agent-${String(at)}`, subject_ref: `order/${String(at)}` }));
    const run = fall(ledger({ isRebuilt }), told);
    const marked = eachMember(run.recorded()).map(({ body }) => body);
    expect(marked).toHaveLength(3);
    expect(run.derived().map(({ key, type }) => [key, type])).toEqual([[RUN, 'RollbackAnnounced']]);
    const [{ body } = { body: {} }] = run.derived();
    expect(body).toMatchObject({ tenant: TENANT, run_id: RUN, caused_by: { event_id: EVIDENCE.event_id, root: null } });
    expect(eachMember(run.derived()).map((one) => one.body)).toEqual(
      marked.map(({ mutation_id, rollback_id, evidence }) =>
        expect.objectContaining({ mutation_id, rollback_id, caused_by: evidence }),
      ),
    );
    expect(eachMember(run.derived()).map((one) => [one.body['agent_id'], one.body['subject_ref']])).toEqual(
      [2, 1, 0].map((at) => [`agent-${String(at)}`, `order/${String(at)}`]),
    );
  });

  it('is followed by one that settles those found at rest, and no others', () => {
    const told = effects(4, (at) => (at % 2 === 0 ? {} : { contract_digest: null }));
    const run = fall(ledger({ isRebuilt }), told);
    expect(run.derived().map(({ type }) => type)).toEqual(['RollbackAnnounced', 'RollbackSettled']);
    const said = eachMember(run.derived()).map(({ type, body }) => [type, body['mutation_id']]);
    const id = (at: number): string => mutationIdOf(told[at] ?? refund());
    expect(said).toEqual([
      ...[3, 2, 1, 0].map((at) => ['RollbackAnnounced', id(at)]),
      ...[3, 1].map((at) => ['RollbackSettled', id(at)]),
    ]);
  });
});

describe('a notice of settlements', () => {
  const moved = (id: string, more: Doc = {}): Doc => ({
    ...{ mutation_id: id, rollback_id: `rb_${id}`, from_state: 'compensating', to_state: 'compensated' },
    ...{ reason: null, subject_ref: null, derived_from: [], ...more },
  });
  const settledBy = (...members: readonly Doc[]): readonly (readonly SettledCommit[])[] =>
    noticesOf(
      accepted('RecoverabilityChanged', { tenant: TENANT, run_id: RUN, event: 'compensation_verified', members }),
    )
      .map(({ type, body }) => ({ type, body: body as unknown as RollbackSettled })) // a notice by its type
      .flatMap(({ type, body }) => (type === 'RollbackSettled' ? [settledIn(body)] : []));

  it('names what came to rest by one event, in its order, and leaves out what did not', () => {
    const told = settledBy(
      moved('c'),
      moved('not-fallen', { rollback_id: null }),
      moved('b', { to_state: 'compensation_failed' }),
      moved('still', { from_state: 'compensated' }),
      moved('a', { to_state: 'manual_resolution_required', reason: 'PROVIDER_REFUSED' }),
    );
    expect(told.map((members) => members.map((one) => [one.mutation_id, one.recoverability, one.reason]))).toEqual([
      [
        ['c', 'compensated', null],
        ['a', 'manual_resolution_required', 'PROVIDER_REFUSED'],
      ],
    ]);
    expect(settledBy(moved('b', { to_state: 'compensation_failed' }))).toEqual([]);
  });

  it('names no more parents than one decision of their owners may answer: more of them make several', () => {
    const parents = (count: number): readonly Doc[] =>
      Array.from({ length: count }, (_, at) => ({ run_id: 'run-0', commit_id: `p${String(at)}` }));
    const told = settledBy(
      moved('d', { derived_from: parents(100) }),
      moved('c', { derived_from: parents(PARENTS_MAX - 100) }),
      moved('b'),
      moved('a', { derived_from: parents(1) }),
    );
    expect(told.map((members) => members.map(({ mutation_id }) => mutation_id))).toEqual([['d', 'c', 'b'], ['a']]);
  });
});

describe('a record without members', () => {
  it('leads to no notice: none names nobody', () => {
    const common = { tenant: TENANT, run_id: RUN, members: [] };
    expect(noticesOf(accepted('MutationsFell', { ...common, evidence: EVIDENCE, contracts: [] }))).toEqual([]);
    expect(noticesOf(accepted('RecoverabilityChanged', { ...common, event: 'resolved' }))).toEqual([]);
  });
});

describe('the size of a notice', () => {
  const CHAIN = { seq: 1, prev_hash: Buffer.alloc(32), decided_at: NOW, source_seq: 1, source_index: 0 };
  /** What a broker takes in one message, less what the request needs (L4). */
  const BYTES_MAX = 900_000;

  async function bytesOf(topic: string, told: readonly { readonly type: string; readonly body: Doc }[]) {
    const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
    const name = topic as 'recourse.mutations'; // one of two logs
    await codecs.prepareWriter(name, { register: true });
    return told.map(({ type, body }) => codecs.encode(name, type as 'MutationsFell', { ...body, ...CHAIN }).length);
  }
  /** Effects with refs as long as they may be. */
  const long = (count: number, refs: number, length: number, isAtRest = false): readonly ToolExecuted[] =>
    effects(count, (at) => ({
      assumption_refs: [
        REF,
        ...Array.from({ length: refs }, (_, n) => `r${String(at)}-${String(n)}`.padEnd(length, 'x')),
      ],
      subject_ref: `order/${String(at)}`.padEnd(length, 'x'),
      ...(isAtRest ? { contract_digest: null } : {}),
    }));

  it.each([
    { what: 'members under a contract', told: long(200, 1, 40), fact: 10, atLeast: 100 },
    { what: 'two hundred members at rest', told: long(200, 1, 40, true), fact: 10, atLeast: 200 },
    { what: 'long refs', told: long(200, 1, 480), fact: 400, atLeast: 50 },
    { what: 'many long refs each', told: long(40, 90, 500), fact: 10, atLeast: 5 },
    { what: 'long evidence', told: long(60, 2, 500), fact: 4_000, atLeast: 60 },
  ])('is below that of the marks it tells of, and those of a decision fit: $what', async ({ told, fact, atLeast }) => {
    const run = fall(ledger(), told, { shipped: 'x'.repeat(fact) });
    const marks = run.recorded().filter(({ type }) => type === 'MutationsFell');
    const sources = await bytesOf('recourse.mutations', marks);
    const announced = run.derived().filter(({ type }) => type === 'RollbackAnnounced');
    const notices = await bytesOf('recourse.rollback-notifications', announced);
    expect(eachMember(marks).length).toBeGreaterThanOrEqual(atLeast);
    expect(sources.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(BYTES_MAX);
    expect(notices).toHaveLength(sources.length);
    for (const [at, bytes] of notices.entries()) expect(bytes).toBeLessThan(sources[at] ?? 0);
  });

  it('fits a message with two hundred members, long refs and long evidence, more than a decision marks', async () => {
    const run = fall(ledger(), long(40, 2, 512), { shipped: 'x'.repeat(4_000) });
    const [first, ...others] = run
      .recorded()
      .flatMap(({ type, body }) => (type === 'MutationsFell' ? fallenIn(body as unknown as MutationsFell) : [])); // by its type
    if (first === undefined) throw new Error('nothing fell');
    const all = Array.from({ length: 200 }, (_, at) => [first, ...others][at % (others.length + 1)] ?? first);
    const body = fellTogether([first, ...all.slice(1)]);
    const notices = noticesOf(accepted('MutationsFell', body));
    expect(eachMember(notices)).toHaveLength(200);
    const [[source = 0], [notice = 0]] = [
      await bytesOf('recourse.mutations', [{ type: 'MutationsFell', body }]),
      await bytesOf('recourse.rollback-notifications', notices),
    ];
    expect(notice).toBeLessThan(source);
    expect(notice).toBeLessThan(BYTES_MAX);
  });
});
