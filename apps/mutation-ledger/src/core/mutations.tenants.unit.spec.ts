// Tenants whose names begin alike, with a slash: what one says of commits it names takes nothing from the other.
import { describe, expect, it } from '@jest/globals';
import { fact, WAYS } from '@recourse/testing';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import { rollbackKey } from '../rules/identity.js';
import { executed, fell, ledger, NOW, refund, RUN, state, statement, triggerOf } from './ledger.testing.js';
import { mutationIdOf } from '../core.js';

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
