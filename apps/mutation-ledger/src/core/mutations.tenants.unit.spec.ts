// Tenants whose names begin alike, with a slash: what one says of commits it names takes nothing from the other.
import { describe, expect, it } from '@jest/globals';
import type { StateView } from '@recourse/event-log';
import { rollbackIdOf } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import { rollbackKey } from '../rules/identity.js';
import { commit, committed } from './commits.testing.js';
import {
  command,
  envelope,
  executed,
  fell,
  ledger,
  NOW,
  refund,
  RUN,
  state,
  statement,
  triggerOf,
} from './ledger.testing.js';
import { mutationIdOf, mutationsCore } from '../core.js';

const OTHER = 'acme/eu';
const EFFECT = refund({ tenant: OTHER });
const ID = mutationIdOf(EFFECT);

describe.each(WAYS)('a tenant whose name begins that of another, and a slash, $way', ({ isRebuilt }) => {
  it('takes no commit of the other by naming it with the rest', () => {
    const { run, assumptions } = ledger({ isRebuilt });
    run
      .when(executed(EFFECT), NOW)
      .when(triggerOf(RUN, `eu/${ID}`, 'acme', 'mallory'), NOW + 1)
      .then(fact('TriggerUnmatched', { tenant: 'acme', mutation_id: `eu/${ID}` }))
      .when(state(assumptions, statement('invalidated', 'inv-1', { tenant: OTHER })), NOW + 2)
      .then(fell({ tenant: OTHER, mutation_id: ID }));
    expect(run.rows('rollback').map(({ doc }) => [doc['tenant'], doc['phase']])).toEqual([
      ['acme/eu', 'marked'],
      ['acme', 'opened'],
    ]);
  });

  it('takes nothing of what is held of the other', () => {
    const on = ledger({ isRebuilt, admission: { ...NO_LIMITS, trustThresholdPermille: 600 } });
    on.run.when(executed(EFFECT), NOW);
    on.run
      .when(triggerOf(RUN, `eu/${ID}`, 'acme', 'svc:mallory'), NOW + 1)
      .then(fact('TriggerHeld', { tenant: 'acme' }));
    on.run
      .when(state(on.assumptions, statement('invalidated', 'inv-1', { tenant: OTHER })), NOW + 2)
      .then(fact('TriggerHeld', { tenant: OTHER, mutation_id: ID }));
    expect(on.run.rows('held')).toHaveLength(2);
  });
});

describe('the key of a rollback', () => {
  it('is what it was for names without a slash, and fits a row for all', () => {
    expect(rollbackKey('acme', 'mut_1')).toBe('acme/mut_1');
    expect(rollbackKey('/'.repeat(200), 'm'.repeat(200))).toMatch(/^sha256:/);
  });
});

describe.each(WAYS)("what a tenant says of a commit that is another's, $way", ({ isRebuilt }) => {
  const theirs = refund({ tenant: 'globex', agent_id: 'ada', initiator: 'grace' });
  const id = mutationIdOf(theirs);
  const judging = (type: 'ConfirmTrigger' | 'RejectTrigger', by: string) =>
    command(type, envelope(by, ['approver'], { command_id: `cmd-${type}-${by}` }), {
      ...{ rollback_id: rollbackIdOf('acme', id), run_id: RUN, mutation_id: id, reason: 'looked at it' },
    });
  const remembered = () => {
    const { run } = ledger({ isRebuilt, admission: { ...NO_LIMITS, trustThresholdPermille: 600 } });
    return run
      .when(executed(theirs), NOW)
      .when(triggerOf(RUN, id, 'acme', 'svc:critic'), NOW + 1)
      .then(fact('TriggerHeld', { tenant: 'acme' }));
  };

  it('is judged by whoever in the tenant has the name of who did it', () => {
    const run = remembered().when(judging('ConfirmTrigger', 'ada'), NOW + 2);
    expect(run.recorded().map(({ type }) => type)).toEqual(['TriggerUnmatched', 'SourceJudged']);
  });

  it('is sealed under a key of the run, and never under one of whom it was done for', () => {
    const patient = refund({ tenant: 'globex', subject_ref: 'patient/jane-roe' });
    const one = commit('theirs', { tenant: 'globex', subject_ref: 'patient/jane-roe' });
    const { run } = ledger({ isRebuilt });
    run.when(executed(patient), NOW).when(committed(one), NOW);
    const rows = [...run.rows('mutation'), ...run.rows('commit')];
    const get = (_kind: string, _group: string, key: string) => rows.find((row) => row.key === key)?.doc;
    const sealed = (tenant: string, named: object) =>
      mutationsCore().sealScope?.(
        { type: 'TriggerUnmatched', body: { tenant, run_id: RUN, ...named } },
        { get } as unknown as StateView, // nothing else is read
        null,
      );
    for (const named of [{ mutation_id: mutationIdOf(patient) }, { mutation_id: one.id }, { commit_id: one.id }]) {
      expect(sealed('acme', named)).toEqual({ tenant: 'acme', subject: `run/${RUN}` });
      expect(sealed('globex', named)).toEqual({ tenant: 'globex', subject: 'patient/jane-roe' });
    }
  });

  it('names nothing of what was done there', () => {
    const run = remembered()
      .when(triggerOf(RUN, id, 'acme', 'mallory'), NOW + 2)
      .when(judging('ConfirmTrigger', 'rita'), NOW + 3);
    expect(run.recorded()).toMatchObject([
      { type: 'SourceJudged', body: { tenant: 'acme', agent_id: null, capability: null } },
    ]);
  });

  it('takes back nothing of theirs after a failed step of the same run', () => {
    const { run } = ledger({ isRebuilt });
    const failed = { effect_key: 'mine', event_id: 'mine', on_failure: 'compensate', outcome: 'failed' } as const;
    run.when(executed(theirs), NOW);
    run.when(
      executed(refund({ ...failed, result: null, external_transaction_ref: null, error_kind: 'DENIED' })),
      NOW + 1,
    );
    expect(run.recorded().map(({ type }) => type)).toEqual(['MutationRecorded']);
  });
});
