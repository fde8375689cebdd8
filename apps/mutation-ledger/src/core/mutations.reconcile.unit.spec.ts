// Reconciliations through the whole core: what fell before the question is in the answer, and the record stands in a row.
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import type { ReconcileLineage } from '@recourse/messages';
import { entrySaid, fact, WAYS, wire } from '@recourse/testing';
import { announced, envelope, EVIDENCE, ledger, MUTATION, NOW, ROLLBACK, RUN, TENANT } from './ledger.testing.js';

const compare = (changes: Partial<ReconcileLineage['envelope']> = {}, runtime = 'reports', count = 1): RecordInput =>
  wire(
    'recourse.ledger-commands',
    'ReconcileLineage',
    {
      envelope: {
        command_id: 'cmd-1',
        tenant: TENANT,
        principal: 'dana',
        accounts: [],
        roles: ['operator'],
        route: 'r',
        idempotency_key: 'k',
        body_sha256: Buffer.alloc(32),
        issued_at: 0,
        signature: Buffer.alloc(0),
        ...changes,
      },
      runtime,
      commits: Array.from({ length: count }, () => ({
        run_id: RUN,
        commit_id: MUTATION,
        derived_from: [],
        stands: true,
        reached_user_at: 1,
      })),
    } satisfies ReconcileLineage,
    { key: 'reports' },
  );
const CHARTER = { doc: 'd', purpose: 'p', allowed: ['x.*'], denied: [] };
const who = { tenant: TENANT, agent_id: 'agent-1', run_id: RUN, mutation_id: MUTATION, subject_ref: null };
const fell = announced({ mutation_id: MUTATION, rollback_id: ROLLBACK });
const passed = fact('BoundReached', { ...who, caused_by: EVIDENCE, committed_at: 1 });

describe('a comparison', () => {
  it('knows every fall that was announced before it was asked for, and stands in a row', () => {
    const { run, fallen } = ledger();
    fallen.appendUnread(RUN, fell);
    fallen.catchUp();
    run.when(compare(), NOW);
    run.thenAnswer({
      status: 'accepted',
      httpStatus: 201,
      body: {
        runtime: 'reports',
        compared: 1,
        diverges: true,
        contaminated: [
          { commit_id: MUTATION, cause: 'fallen', rollback_id: ROLLBACK, rolled_back_at: EVIDENCE.stated_at },
        ],
      },
    });
    expect(
      run
        .rows()
        .filter(({ kind }) => kind === 'reconciliation')
        .map(({ doc }) => doc),
    ).toEqual([expect.objectContaining({ tenant: TENANT, runtime: 'reports', diverges: true, reconciled_at: NOW })]);
  });

  it('is not decided before the view is read to its end', () => {
    ledger().run.whenBehind(compare(), NOW);
  });

  it("finds nothing in another tenant's fall, nor in what was left to a person", () => {
    const { run, fallen } = ledger();
    fallen.append(RUN, fell);
    run.when(compare({ tenant: 'globex' }), NOW);
    run.thenAnswer({ status: 'accepted', body: { diverges: false } });
    const other = ledger();
    other.fallen.append(RUN, passed);
    other.run.when(compare(), NOW);
    other.run.thenAnswer({ status: 'accepted', body: { diverges: false } });
  });

  it.each([
    ['under another key', compare({}, 'elsewhere'), 'KEY_MISMATCH'],
    ['by nobody with a role', compare({ roles: ['approver'] }), 'ROLE_REQUIRED'],
    ['of more than one decision holds', compare({}, 'reports', 1_001), 'RECONCILIATION_TOO_LARGE'],
  ])('is refused %s', (_, input, code) => {
    const { run } = ledger();
    run.when(input, NOW).thenAnswer({ status: 'rejected', code });
  });
});

describe.each(WAYS)('a runtime that diverges, $way', ({ isRebuilt }) => {
  const DAY_MS = 86_400_000;
  const review = (who = envelope('olga', ['operator']), reason = 'its cache was dropped') =>
    wire(
      'recourse.ledger-commands',
      'ReviewDivergence',
      { envelope: who, runtime: 'reports', reason },
      { key: 'reports' },
    );
  const start = () => {
    const { run, fallen } = ledger({ isRebuilt });
    fallen.append(RUN, fell);
    return run;
  };
  const open = (run: ReturnType<typeof start>) => run.rows('divergence').map(({ doc }) => doc);

  it('waits for a person, with owner and deadline, in one question however often it is compared (E45)', () => {
    const run = start()
      .when(compare(), NOW)
      .then(fact('LineageReconciled', { owner: 'role:operator', deadline_at: NOW + DAY_MS }));
    run
      .when(compare({ command_id: 'cmd-2' }), NOW + 5)
      .then(fact('LineageReconciled', { owner: 'role:operator', deadline_at: NOW + DAY_MS }));
    expect(open(run)).toMatchObject([{ runtime: 'reports', contaminated: 1, deadline_at: NOW + DAY_MS }]);
  });

  it('waits no more once a person says what was done; what is found later is asked anew', () => {
    const run = start()
      .when(compare(), NOW)
      .when(review(), NOW + 1)
      .then(fact('DivergenceReviewed', { runtime: 'reports', by: 'olga', reason: 'its cache was dropped' }));
    expect(open(run)).toEqual([]);
    run.when(review(), NOW + 2).thenAnswer({ httpStatus: 404, code: 'NOT_DIVERGING' });
    run
      .when(compare({ command_id: 'cmd-3' }), NOW + 3)
      .then(fact('LineageReconciled', { deadline_at: NOW + 3 + DAY_MS }));
  });

  it('is not dealt with by the agent whose work it keeps, by who owns that, nor by who owns the program that compared', () => {
    const { run, fallen, entries } = ledger({ isRebuilt });
    fallen.append(RUN, fell);
    for (const [agent, owner] of [
      ['agent-1', 'otto'],
      ['reports', 'petra'],
    ] as const)
      entries.append(
        'e',
        entrySaid('agent_charter', { name: agent, tenant: TENANT, body: { ...CHARTER, agent, owner } }),
      );
    run
      .when(compare({ principal: 'agent:reports', roles: ['agent'] }), NOW)
      .then(fact('LineageReconciled', { agents: ['agent-1', 'agent:reports'] }))
      .when(compare({ command_id: 'cmd-2' }), NOW + 1)
      .then(fact('LineageReconciled', { agents: ['agent-1'] }));
    for (const by of ['agent-1', 'Otto', 'petra'])
      run
        .when(review(envelope(by, ['operator'])), NOW + 2)
        .thenNothing()
        .thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' });
    run.when(review(), NOW + 3).then(fact('DivergenceReviewed'));
  });

  it("is no program's to close, and not without a reason", () => {
    start()
      .when(compare(), NOW)
      .when(review(envelope('service:sweeper', ['operator'])), NOW + 1)
      .thenAnswer({ httpStatus: 403, code: 'JUDGE_NOT_A_PERSON' })
      .when(review(envelope('rita', ['reporter'])), NOW + 1)
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' })
      .when(review(undefined, ' '), NOW + 1)
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
  });
});
