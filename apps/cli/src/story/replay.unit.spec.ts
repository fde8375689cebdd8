import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { contractBody, contractDigest, parseContract, termsOf } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Accepted } from '../audit/accepted.js';
import type { Checked, Place } from './decisions.process.js';
import { otherwiseIn, replayRun } from './replay.js';
import type { RemadeRun } from './replay.js';

const WINDOW_MS = 3_600_000;
const parsed = parseContract(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8'));
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
const CONTRACT: Contract = parsed.contract;
const BODY = contractBody(CONTRACT);
const DIGEST = contractDigest(BODY);
const TERMS = termsOf(CONTRACT, DIGEST);
const REF = {
  reversal_class: 'compensable',
  reversal_args: { encoding: 'sealed', sha256: Buffer.alloc(32, 9) },
  committed_at: 1_000,
  reversal_expires_at: 1_000 + WINDOW_MS,
};

let seq = 0;
const record = (type: string, body: object): Accepted => {
  seq += 1;
  return {
    log: 'recourse.mutations',
    partition: 0,
    offset: seq,
    seq,
    hash: '',
    type,
    body,
    raw: { key: null, value: Buffer.alloc(0) },
  };
};
const registered = record('ContractRegistered', { name: CONTRACT.name, body: BODY, digest: DIGEST });
const execution = { capability: CONTRACT.name };
const planned = record('MutationPlanned', { execution, terms: TERMS });
const recorded = (more: object = {}): Accepted => ({
  ...record('MutationRecorded', { execution, terms: TERMS, ref: REF, ...more }),
  seq: 3,
});
const codesOf = (...records: readonly Accepted[]): readonly (string | null)[] =>
  replayRun(records, null).decisions.map(({ decision, code }) => `${decision}:${code ?? 'equal'}`);

describe('a run replayed from its packet', () => {
  it('concludes from the contract of then what the ledger concluded: terms, class and window', () => {
    expect(codesOf(registered, planned, recorded())).toEqual([
      'terms:equal',
      'terms:equal',
      'class:equal',
      'window:equal',
      'binding:payload_sealed',
    ]);
    expect(replayRun([registered, planned], null).outcome).toBe('equal');
  });

  it('differs where a record says something else than its contract', () => {
    const { outcome, decisions } = replayRun(
      [
        registered,
        recorded({
          terms: { ...TERMS, max_attempts: 9 },
          ref: { ...REF, reversal_class: 'reversible', reversal_expires_at: 1 },
        }),
      ],
      null,
    );
    expect(outcome).toBe('differs');
    expect(decisions.map(({ code }) => code)).toEqual([
      'REPLAY_TERMS_DIFFER',
      'REPLAY_CLASS_DIFFERS',
      'REPLAY_WINDOW_DIFFERS',
      'payload_sealed',
    ]);
  });

  it('is not called equal while something was left unchecked: a lost contract, a forged one, a decision of another rule', () => {
    const forged = record('ContractRegistered', {
      name: CONTRACT.name,
      body: BODY.replace('3600000', '3600001'),
      digest: DIGEST,
    });
    expect(codesOf(planned)).toEqual(['contract:contract_missing']);
    expect(codesOf(forged, planned)).toEqual(['contract:contract_missing']);
    expect(codesOf(registered, planned, record('RecoveryPlanned', {}))).toEqual([
      'terms:equal',
      'other:rule_not_offline',
    ]);
    expect(replayRun([registered, planned, record('RecoveryPlanned', {})], null).outcome).toBe('incomplete');
    expect(replayRun([registered], null).outcome).toBe('incomplete');
  });

  it('takes what people and sources said as it is', () => {
    expect(codesOf(registered, record('StepApproved', {}), record('AssumptionStated', {}))).toEqual([]);
  });
});

describe('the same run under another contract', () => {
  const under = (more: Partial<Contract>, ...records: readonly Accepted[]) =>
    replayRun([registered, planned, ...records], { ...CONTRACT, ...more }).counterfactual;

  it('is unchanged where no decision would have been another', () => {
    expect(under({ version: 7, owner: 'somebody-else' }, recorded())).toEqual({
      outcome: 'unchanged',
      at: null,
      why: [],
    });
    expect(under({ name: 'mail.send_message', reversal_class: 'irreversible' }, recorded())).toMatchObject({
      outcome: 'unchanged',
    });
  });

  it('diverges at the first record that would have been another, and names what of it', () => {
    expect(under({ reversal_window_ms: 60_000 }, recorded())).toEqual({
      outcome: 'diverged',
      at: `recourse.mutations/0 seq ${String(planned.seq)}`,
      why: ['reversal_window_ms'],
    });
    expect(
      replayRun([registered, recorded()], {
        ...CONTRACT,
        reversal_class: 'reversible',
        inverse_capability: 'payments.reverse_refund',
      }).counterfactual,
    ).toMatchObject({
      outcome: 'diverged',
      at: 'recourse.mutations/0 seq 3',
    });
  });

  it('is unknown where it hangs on arguments that are sealed', () => {
    expect(under({ reversal_args: {} }, recorded())).toEqual({
      outcome: 'unknown',
      at: 'recourse.mutations/0 seq 3',
      why: ['reversal_args: the arguments are sealed'],
    });
  });
});

describe('a run with what services decided from', () => {
  const ruled = (at: number, log = 'recourse.recoveries'): Accepted => ({
    ...record('LegDispatched', { at }),
    log,
    seq: at,
  });
  const [first, second] = [ruled(101), ruled(102)];
  const checked = (of: Accepted, more: Partial<Checked> = {}): Checked => ({
    ...{ type: 'checked', outcome: 'equal', code: null, at: null, field: null, pinned: [] },
    records: [{ log: of.log, partition: of.partition, seq: of.seq, hash: of.hash }],
    otherwise: { outcome: 'unchanged', at: null, why: null, decided: [], is_concerned: true },
    ...more,
  });
  const told = { log: 'recourse.recoveries', partition: 0, seq: 102 };

  it('is equal where each was made again, and is not while one rests on what is only told', () => {
    const replay = (...all: readonly Checked[]) => replayRun([first, second], null, { checked: all, unpinned: [] });
    expect(replay(checked(first), checked(second)).outcome).toBe('equal');
    expect(replay(checked(first), checked(second, { pinned: ['row budget INR'] })).outcome).toBe('incomplete');
    expect(replay(checked(first), checked(second, { outcome: 'differs', code: 'REPLAY_ROW_DIFFERS' })).outcome).toBe(
      'differs',
    );
  });

  it('says of what was not pinned why', () => {
    const { outcome, decisions } = replayRun([first, second], null, {
      checked: [checked(first)],
      unpinned: [{ record: told, why: 'payload_sealed' }],
    });
    expect([outcome, decisions.map(({ code }) => code)]).toEqual(['incomplete', [null, 'payload_sealed']]);
  });

  it('says of a decision of the ledger that nobody could make what its contract says of it, and of one that was made nothing else', () => {
    const place = (of: Accepted): Place => ({ log: of.log, partition: of.partition, seq: of.seq, hash: of.hash });
    const lacking = { checked: [], unpinned: [{ record: place(planned), why: 'payload_sealed' }] };
    const told = (remade: RemadeRun): readonly string[] =>
      replayRun([registered, planned], null, remade).decisions.map(
        ({ decision, code }) => `${decision}:${code ?? 'equal'}`,
      );
    expect(told(lacking)).toEqual(['terms:equal', 'rule:payload_sealed']);
    expect(told({ checked: [checked(planned)], unpinned: [] })).toEqual(['rule:equal']);
  });

  it('passes over what the ledger decided and nobody could make, under another policy, and not what was made', () => {
    const ledger = ruled(100, 'recourse.mutations');
    const under = (...all: readonly Checked[]) => otherwiseIn([ledger, first], { checked: all, unpinned: [] });
    expect(under(checked(first)).outcome).toBe('unchanged');
    const otherwise: Checked['otherwise'] = {
      ...{ outcome: 'diverged', at: null, why: 'type', decided: [], is_concerned: true },
    };
    expect(under(checked(ledger, { otherwise }), checked(first))).toMatchObject({
      ...{ outcome: 'diverged', at: 'recourse.mutations/0 seq 100' },
    });
  });

  it('is unchanged under another policy only where all of it was made again, and something read it', () => {
    const under = (...all: readonly Checked[]) => otherwiseIn([first, second], { checked: all, unpinned: [] });
    expect(under(checked(first), checked(second)).outcome).toBe('unchanged');
    expect(under(checked(first))).toEqual({
      outcome: 'unknown',
      at: 'recourse.recoveries/0 seq 102',
      why: ['not_pinned'],
    });
    const sealed = { checked: [checked(first)], unpinned: [{ record: told, why: 'payload_sealed' }] };
    expect(otherwiseIn([first, second], sealed).why).toEqual(['payload_sealed']);
    const unread: Partial<Checked> = {
      otherwise: { outcome: 'unchanged', at: null, why: null, decided: [], is_concerned: false },
    };
    expect(under(checked(first, unread), checked(second, unread))).toMatchObject({ outcome: 'unknown', at: null });
  });

  it('diverges at the first decision that comes out otherwise, with both, and tells nothing of what came after it', () => {
    const decided = [{ type: 'StepHalted', body: { step_id: 's' } }];
    const otherwise = { outcome: 'diverged', at: null, why: 'type', decided, is_concerned: true } as const;
    const {
      outcome,
      at,
      why,
      decided: both,
    } = otherwiseIn([first, second], {
      checked: [checked(first, { otherwise }), checked(second, { otherwise })],
      unpinned: [],
    });
    expect([outcome, at, why]).toEqual(['diverged', 'recourse.recoveries/0 seq 101', ['type']]);
    expect(both).toEqual({ then: [{ type: 'LegDispatched', body: { at: 101 } }], otherwise: decided });
  });
});
