// Executions that the benches publish.
import { describe, expect, it } from '@jest/globals';
import { contractDigest, parseContract } from '@recourse/contract';
import { mutationIdOf } from '@recourse/mutation-ledger';
import { readFileSync } from 'node:fs';
import { execution, fullExecution, withWindow } from './executions.js';

const EXAMPLE = readFileSync('examples/contracts/payments.issue_refund.json', 'utf8');
const CONTRACT = withWindow(EXAMPLE, 60_000);
const of = (index: number) => fullExecution(index, CONTRACT, 1_000);

describe('executions of a bench', () => {
  it('are one effect each, five a run', () => {
    const all = Array.from({ length: 50 }, (_, index) => execution(index));
    expect(new Set(all.map(mutationIdOf)).size).toBe(50);
    expect(new Set(all.map(({ run_id }) => run_id)).size).toBe(10);
  });

  it('rely on one assumption of their own and are made from the effect before them', () => {
    expect(of(7).assumption_refs).toEqual(['order/4000007#not_shipped']);
    expect(of(7).derived_from).toEqual([{ run_id: of(6).run_id, commit_id: mutationIdOf(of(6)) }]);
    expect(of(0).derived_from).toEqual([{ run_id: of(1).run_id, commit_id: mutationIdOf(of(1)) }]);
  });

  it('name no ref that the ledger keeps for itself', () => {
    const refs = [execution(3), of(0), of(7)].flatMap(({ assumption_refs }) => assumption_refs);
    expect(refs.filter((ref) => ref.startsWith('commit/'))).toEqual([]);
  });

  it('name a contract that is the example but for its window', () => {
    const parsed = parseContract(CONTRACT.body);
    expect(parsed).toMatchObject({ ok: true, contract: { name: of(1).capability, reversal_window_ms: 60_000 } });
    expect(of(1).contract_digest).toEqual(contractDigest(CONTRACT.body));
  });
});
