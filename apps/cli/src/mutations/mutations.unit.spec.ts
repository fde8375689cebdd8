import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';

const CLOSING = {
  mutation_id: 'mut_1',
  tenant: 'acme',
  run_id: 'run-1',
  capability: 'payments.issue_refund',
  subject_ref: 'order/4711',
  expires_at: 3_600_000,
  closes_in_ms: 3_540_000,
  value: { amount_minor: 500_000, currency: 'INR' },
  reversal_capability: 'payments.reverse_refund',
  recovery_approval_mode: 'human',
};
const STAKES = [
  { tenant: 'acme', currency: 'INR', amount_minor: 700_000, mutations: 2, closes_first_at: 3_600_000 },
  { tenant: 'acme', currency: null, amount_minor: null, mutations: 1, closes_first_at: 4_000_000 },
];
const HORIZON = { as_of: 60_000, at_stake: STAKES, items: [CLOSING], next_cursor: 'next' };
const FOUND = {
  mutation_id: 'mut_1',
  status: 'compensated',
  compensation_attempts: 2,
  last_error: 'PROVIDER_REFUSED',
  recorded_hash: 'aa',
  proof: {
    log: 'recourse.mutations',
    partition: 3,
    seq: 17,
    recorded_hash: 'aa',
    contract_digest: 'bb',
    bound_args_sha256: 'cc',
  },
};

const ledger = (answers: Readonly<Record<string, object>>) => desk(table(answers));

const COMPENSATION = {
  compensation_id: 'mut_2',
  reverses_mutation_id: 'mut_1',
  capability: 'payments.reverse_refund',
  contract_version: 3,
  contract_digest: 'dd',
  value: { amount_minor: 4_200, currency: 'INR' },
  execution_state: 'succeeded',
  reason: 'SUCCESS_CONDITION_HELD',
};

describe('mutations compensations', () => {
  it('lists what was executed to undo the effects of a run, each with its own contract and value (A62)', async () => {
    const { call, paths, out } = ledger({ '/v1/compensations': { items: [COMPENSATION], next_cursor: null } });
    expect(await call('mutations', 'compensations', '--run', 'run-1', '--of', 'mut_1')).toBe(0);
    expect(paths().at(-1)).toBe('/v1/compensations?run_id=run-1&mutation_id=mut_1&limit=200');
    expect(out()).toMatch(
      /\nmut_2 +mut_1 +payments\.reverse_refund +3 +42\.00 INR +succeeded +SUCCESS_CONDITION_HELD/u,
    );
  });

  it('are shown with the mutation they reverse', async () => {
    const { call, out } = ledger({ '/v1/mutations/mut_1': { ...FOUND, compensations: [COMPENSATION] } });
    expect(await call('mutations', 'show', 'mut_1')).toBe(0);
    expect(out()).toMatch(
      /What was executed to undo it\n +compensation +mut_2\n +capability +payments\.reverse_refund/u,
    );
  });
});

describe('mutations reconcile', () => {
  it('has a worker look once more how an execution ended (C64)', async () => {
    const { call, paths } = ledger({ '/v1/mutations/mut_1/reconcile': { mutation_id: 'mut_1', asked: 'reconcile' } });
    expect(await call('mutations', 'reconcile', 'mut_1', '--reason', 'the provider is back')).toBe(0);
    expect(paths().at(-1)).toBe('/v1/mutations/mut_1/reconcile');
  });
});

describe('mutations horizon', () => {
  it('shows what closes next under the money at stake', async () => {
    const { call, paths, out } = ledger({ '/v1/horizon': HORIZON });
    expect(
      await call('mutations', 'horizon', '--within', '90', '--capability', 'payments.issue_refund', '--limit', '1'),
    ).toBe(0);
    expect(paths().at(-1)).toBe('/v1/horizon?within_ms=5400000&capability=payments.issue_refund&limit=1');
    const [head, stake, unnamed, , closings, closing] = out().split('\n');
    expect([head, stake, unnamed]).toEqual([
      expect.stringMatching(/^TENANT +AT STAKE/),
      expect.stringMatching(/^acme +7000\.00 INR +2 +1970-01-01 01:00:00Z/),
      expect.stringContaining('no value named'),
    ]);
    expect([closings, closing]).toEqual([
      expect.stringMatching(/^CLOSES IN/),
      expect.stringMatching(/^ +59 min +1970-01-01 01:00:00Z +mut_1 .*5000\.00 INR +payments\.reverse_refund +human$/),
    ]);
    expect(out()).toContain('raise --limit');
  });

  it('is one document for scripts', async () => {
    const { call, out } = ledger({ '/v1/horizon': { ...HORIZON, next_cursor: null } });
    expect(await call('mutations', 'horizon', '--json')).toBe(0);
    expect(JSON.parse(out())).toEqual({ as_of: 60_000, at_stake: STAKES, items: [CLOSING], more: false });
  });

  it('says that nothing closes', async () => {
    const { call, out } = ledger({ '/v1/horizon': { as_of: 1, at_stake: [], items: [], next_cursor: null } });
    await call('mutations', 'horizon');
    expect(out()).toBe('no window closes');
  });

  it.each(['0', '-1', 'soon'])('refuses to look %s minutes ahead', async (within) => {
    const { call, paths } = ledger({});
    expect(await call('mutations', 'horizon', '--within', within)).not.toBe(0);
    expect(paths()).toEqual([]);
  });
});

describe('mutations show', () => {
  it('ends with what proves it', async () => {
    const { call, out } = ledger({ '/v1/mutations/mut_1': FOUND });
    expect(await call('mutations', 'show', 'mut_1')).toBe(0);
    expect(out()).toMatch(/status +compensated/);
    expect(out()).toMatch(/attempts +2\nlast error +PROVIDER_REFUSED/);
    expect(out().split('What proves it\n')[1]).toMatch(
      /log +recourse\.mutations\n +partition +3\n +seq +17\n +record hash +aa\n +contract digest +bb\n +bound args +cc$/,
    );
  });

  it.each([
    ['succeeded', /^committed +1970-01-01 00:00:05Z$/mu],
    ['failed', /^failed +1970-01-01 00:00:05Z: nothing took effect$/mu],
    ['uncertain', /^ended +1970-01-01 00:00:05Z: whether it took effect is not known$/mu],
  ])('says what became of an execution that is %s, and calls no other committed', async (execution_state, said) => {
    const ref = { committed_at: 5_000 };
    const { call, out } = ledger({ '/v1/mutations/mut_1': { ...FOUND, execution_state, ref } });
    await call('mutations', 'show', 'mut_1');
    expect(out()).toMatch(said);
    expect(out().includes('committed')).toBe(execution_state === 'succeeded');
  });

  it('claims no proof of what is only planned', async () => {
    const { call, out } = ledger({ '/v1/mutations/mut_1': { ...FOUND, proof: null } });
    await call('mutations', 'show', 'mut_1');
    expect(out()).not.toContain('What proves it');
  });
});

describe('mutations list', () => {
  it('asks by execution state', async () => {
    const { call, paths } = ledger({ '/v1/mutations': { items: [], next_cursor: null } });
    await call('mutations', 'list', '--execution', 'uncertain', '--limit', '5');
    expect(paths()).toEqual(['/v1/mutations?execution=uncertain&limit=5']);
  });
});
