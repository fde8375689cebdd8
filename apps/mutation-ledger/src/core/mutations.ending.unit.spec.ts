// Every command that ends an item of the ledger × everybody who may not: who did it, for whom it was done, who owns the agent, who made
// the contract, and whoever is no person (P5).
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { fact, WAYS } from '@recourse/testing';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import {
  announced,
  command,
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
} from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';

const HOUR = 3_600_000;
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

const word = (type: Parameters<typeof command>[0], by: string, more: Readonly<Record<string, unknown>>): RecordInput =>
  command(type, envelope(by, ['approver', 'operator'], { command_id: `cmd-${by}` }), {
    run_id: RUN,
    mutation_id: MUTATION,
    reason: 'looked at it',
    ...more,
  });

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
