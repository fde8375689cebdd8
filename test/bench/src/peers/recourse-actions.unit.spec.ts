// What Recourse takes back in the peers bench.
import { describe, expect, it } from '@jest/globals';
import { parseContract, readPayload } from '@recourse/contract';
import { executionOf, handleOf, PEER_CONTRACTS, PUT_CONTRACT, stepOf } from './recourse-actions.js';

describe('the contracts of the peers bench', () => {
  it('are contracts, without a look at what stands before the act', () => {
    for (const contract of PEER_CONTRACTS) expect(parseContract(JSON.stringify(contract))).toMatchObject({ ok: true });
    const parsed = parseContract(PUT_CONTRACT ?? '');
    expect(parsed).toMatchObject({ ok: true, contract: { subject: '/run', recovery_approval_mode: 'auto' } });
    expect(parsed.ok && parsed.contract.stale_check).toBeFalsy();
  });
});

describe('the executions of a cell', () => {
  it('are eleven a run, of one subject, each an effect of its own', () => {
    const of = executionOf({ prefix: 'r0c1', variant: 'http' }, Buffer.alloc(32), 1_000);
    const all = Array.from({ length: 22 }, (_, index) => of(index));
    expect(all.map(({ run_id }) => run_id)).toEqual([...Array(11).fill('r0c1-0'), ...Array(11).fill('r0c1-1')]);
    expect(new Set(all.map(({ effect_key, run_id }) => `${run_id} ${effect_key}`)).size).toBe(22);
    expect(all[11]?.external_transaction_ref).toBe(handleOf({ variant: 'http', run: 'r0c1-1', step: 1 }));
    expect(stepOf(readPayload(of(21).args))).toEqual({ run: 'r0c1-1', variant: 'http', step: 11 });
  });
});
