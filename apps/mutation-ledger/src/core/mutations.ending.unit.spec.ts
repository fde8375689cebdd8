// Every command that ends an item of the ledger × everybody who may not: who did it, for whom it was done, who owns the agent, who made
// the contract, and whoever is no person (P5).
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { deriveId } from '@recourse/kernel';
import type { RecordTypeOf } from '@recourse/messages';
import { entrySaid, fact, WAYS, wire } from '@recourse/testing';
import { mutationsCore } from '../core.js';
import { deliveryIdOf } from '../rules/consumer/consumer.messages.js';
import { scopeIdOf } from '../rules/admission/admission.decisions.js';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import {
  announced,
  envelope,
  EVIDENCE,
  executed,
  intent,
  ledger,
  MUTATION,
  planned,
  refund,
  ROLLBACK,
  RUN,
  state,
  statement,
  TENANT,
  TRIGGERED,
} from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';

const HOUR = 3_600_000;
const BREAKER = scopeIdOf({ scope: 'source', tenant: TENANT, name: 'warehouse' });
const OF_AGENT = { scope: 'agent', name: 'agent-1' } as const;
const TREND = { ...OF_AGENT, trend_id: deriveId('trd', OF_AGENT.scope, TENANT, OF_AGENT.name, 0) };
const DELIVERY = deliveryIdOf({ rollback_id: ROLLBACK, consumer: 'mailer' });
const NOW = 10 * HOUR;

/** Its agent is of otto, and by a charter of the platform of petra; it was done for ada, of nina, and its contract was registered by owner. */
function begun(isRebuilt: boolean, more: Parameters<typeof ledger>[0] = {}): Ledger {
  const made = ledger({ isRebuilt, ...more });
  for (const [owner, tenant, name, agent] of [
    ['otto', 'acme', 'a', 'agent-1'],
    ['mallory', 'acme', 'a0', 'agent-1'],
    ['petra', '*', 'a', 'agent-1'],
    ['nina', 'acme', 'b', 'ada'],
  ] as const) {
    const charter = { owner, doc: 'd', agent, purpose: 'p', allowed: ['x.*'], denied: [] };
    const body = JSON.stringify(charter);
    const of = { kind: 'agent_charter', tenant, name, version: 1, digest: Buffer.alloc(32), body };
    made.entries.append('a', fact('EntryRegistered', of));
  }
  return made;
}

const RUNTIME = 'reports';
const word = (
  type: RecordTypeOf<'recourse.ledger-commands'>,
  by: string,
  more: Readonly<Record<string, unknown>>,
): RecordInput =>
  wire(
    'recourse.ledger-commands',
    type,
    {
      envelope: envelope(by, ['approver', 'operator'], { command_id: `cmd-${by}` }),
      run_id: RUN,
      mutation_id: MUTATION,
      reason: 'looked at it',
      ...more,
    },
    { key: 'runtime' in more ? RUNTIME : RUN },
  );

/** A trigger of a source that is not trusted: a person judges it. */
function held(isRebuilt: boolean): Ledger['run'] {
  const made = begun(isRebuilt, { admission: { ...NO_LIMITS, trustThresholdPermille: 600 } });
  return made.run
    .when(executed(refund({ committed_at: 1 })), 500)
    .when(state(made.assumptions, statement('invalidated', 'ev-1')), 1_000)
    .then(fact('TriggerHeld'));
}

/** A fall of a parent reached it beyond the bound: a person reviews it. */
function beyond(isRebuilt: boolean): Ledger['run'] {
  const made = begun(isRebuilt, { boundMs: HOUR });
  const parent = { run_id: 'run-0', commit_id: 'mut_parent' };
  const root = { rollback_id: 'rb_root', run_id: 'run-9', mutation_id: 'mut_root', bound_at: 4_711 };
  const notice = announced({
    run_id: parent.run_id,
    mutation_id: parent.commit_id,
    rollback_id: 'rb_parent',
    caused_by: { ...EVIDENCE, kind: 'lineage', root },
  });
  return made.run
    .when(executed(refund({ assumption_refs: [], committed_at: 77, derived_from: [parent] })), 77)
    .when(made.fallen.append(parent.run_id, notice), NOW)
    .then(fact('CommitBeyondBound'), fact('RollbackOutOfBand'));
}

/** A burst opened a breaker over its source, which holds what that says until a person closes it. */
function broken(isRebuilt: boolean): Ledger['run'] {
  const made = begun(isRebuilt, { admission: { ...NO_LIMITS, storm: { limit: 1, windowMs: HOUR } } });
  const another = { run_id: 'run-2', agent_id: 'agent-2', initiator: null, contract_digest: null };
  return made.run
    .when(executed(refund({ ...another, assumption_refs: ['order/2#open'], committed_at: 1 })), 500)
    .when(executed(refund({ committed_at: 1 })), 500)
    .when(state(made.assumptions, statement('invalidated', 'ev-2', { ref: 'order/2#open' })), 1_000)
    .when(state(made.assumptions, statement('invalidated', 'ev-1')), 1_001)
    .then(fact('BreakerOpened'), fact('TriggerHeld', { mutation_id: MUTATION }));
}

/** More of what its agent did was rolled back in each hour than ever: a person is asked why. */
function rising(isRebuilt: boolean): Ledger['run'] {
  const made = begun(isRebuilt, { admission: { ...NO_LIMITS, trend: { windowMs: HOUR, min: 4, factor: 2 } } });
  for (const [hour, count] of [1, 1, 1, 1, 5, 5, 5, 1].entries())
    for (let nth = 0; nth < count; nth += 1) {
      const key = `${String(hour)}-${String(nth)}`;
      const told = { event_id: `ev-${key}`, effect_key: key, call_id: key, assumption_refs: [`order/${key}#open`] };
      const at = (hour + 1) * HOUR + nth * 10;
      made.run
        .when(executed(refund({ ...told, committed_at: 1 })), at)
        .when(state(made.assumptions, statement('invalidated', key, { ref: `order/${key}#open` })), at + 1);
    }
  return made.run;
}

/** A consumer did not say in time what it did about what fell. */
function silent(isRebuilt: boolean): Ledger['run'] {
  const made = begun(isRebuilt);
  const body = {
    owner: 'platform',
    doc: 'd',
    consumer: 'mailer',
    scope: TENANT,
    mode: 'async',
    commit_to_user_ms: 5_000,
  };
  made.entries.append('mailer', entrySaid('subscription', { name: 'mailer', tenant: TENANT, body }));
  return made.run
    .when(executed(refund({ committed_at: 1 })), 500)
    .when(TRIGGERED, 1_000)
    .whenDue(NOW);
}

/** A runtime keeps what fell, as the notice of that says; a later comparison finds what nothing more is known of. */
function diverging(isRebuilt: boolean): Ledger['run'] {
  const made = begun(isRebuilt);
  const told = made.run
    .when(executed(refund({ committed_at: 1 })), 500)
    .when(TRIGGERED, 1_000)
    .derived()
    .filter(({ type }) => type === 'RollbackAnnounced');
  for (const { key, type, body } of told) made.fallen.append(key, fact(type, body));
  made.fallen.append('run-0', announced({ run_id: 'run-0', mutation_id: 'mut_other', agent_id: 'agent-2' }));
  const compared = (run_id: string, commit_id: string): Readonly<Record<string, unknown>> => ({
    runtime: RUNTIME,
    commits: [{ run_id, commit_id, derived_from: [], stands: true, reached_user_at: null }],
  });
  return made.run
    .when(word('ReconcileLineage', 'dana', compared(RUN, MUTATION)), NOW)
    .when(word('ReconcileLineage', 'dora', compared('run-0', 'mut_other')), NOW + 1)
    .then(fact('LineageReconciled', { agents: ['agent-2'], initiators: [], contract_digests: [] }));
}

const ENDS = [
  {
    type: 'SettleMutation',
    given: (isRebuilt: boolean) =>
      begun(isRebuilt, { concludeWithinMs: 1_000 })
        .run.when(planned(intent()), NOW)
        .whenDue(NOW + HOUR),
    more: { settled_as: 'not_done' },
  },
  { type: 'ConfirmTrigger', given: held, more: { rollback_id: ROLLBACK } },
  { type: 'RejectTrigger', given: held, more: { rollback_id: ROLLBACK } },
  { type: 'ReviewOutOfBand', given: beyond, more: { verdict: 'stands' } },
  { type: 'CloseBreaker', given: broken, more: { breaker_id: BREAKER } },
  { type: 'ReviewTrend', given: rising, more: TREND },
  { type: 'ReviewDivergence', given: diverging, more: { runtime: RUNTIME } },
  { type: 'ReviewDelivery', given: silent, more: { delivery_id: DELIVERY, consumer: 'mailer' } },
] as const;

const BARRED = [
  ['the agent', 'agent:agent-1', 'JUDGE_NOT_A_PERSON'],
  ['the agent without its prefix', 'agent-1', 'SELF_APPROVAL'],
  ['whom it was done for', 'Ada', 'SELF_APPROVAL'],
  ['who owns the agent', 'otto', 'SELF_APPROVAL'],
  ['who owns it by another charter', 'mallory', 'SELF_APPROVAL'],
  ['who owns it by a charter of the platform', 'petra', 'SELF_APPROVAL'],
  ['who owns whom it was done for, another agent', 'nina', 'SELF_APPROVAL'],
  ['who made the contract', 'owner', 'EDITOR_APPROVAL'],
] as const;

describe.each(WAYS)('an item of the ledger, $way', ({ isRebuilt }) => {
  describe.each(ENDS)('is not ended with $type', ({ type, given, more }) => {
    it.each(BARRED)('by %s', (_who, by, code) => {
      const run = given(isRebuilt);
      const rows = JSON.stringify(run.rows());
      run
        .when(word(type, by, more), NOW + 2 * HOUR)
        .thenNothing()
        .thenAnswer({ status: 'rejected', httpStatus: 403, code });
      expect(JSON.stringify(run.rows())).toBe(rows);
    });

    it('unless by somebody else', () => {
      given(isRebuilt)
        .when(word(type, 'olga', more), NOW + 2 * HOUR)
        .thenAnswer({ status: 'accepted' });
    });
  });
});

it('has every command of people in its table that ends something, or says why it is not there', () => {
  const stops = ['CancelMutation'];
  const endsNothing = ['ReconcileMutation', 'TriggerRollback', 'UndoRun', 'ReconcileLineage', 'OrderErasure'];
  const heard = mutationsCore({}).inputs.flatMap(({ topic, types }) =>
    topic === 'recourse.ledger-commands' ? types : [],
  );
  const named = ENDS.map(({ type }) => type);
  expect([...named, ...stops, ...endsNothing].sort()).toEqual([...heard].sort());
});
