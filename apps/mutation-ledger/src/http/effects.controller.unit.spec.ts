// The horizon over HTTP: what binds each window by now.
import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { contractDigest } from '@recourse/contract';
import type { Caller, Reads, ServiceContext } from '@recourse/service';
import { contractText, executed, ledger, NOW, refund } from '../core/ledger.testing.js';
import type { LedgerQueries } from '../reads/ledger-queries.js';
import { EffectsController } from './effects.controller.js';

/** The one row of the horizon, where the contract stands with these changes; null before contracts are read. */
async function windowUnder(changes: Readonly<Record<string, unknown>> | null): Promise<unknown> {
  const { run } = ledger();
  run.when(executed(refund()), NOW);
  const mutations = run.rows('mutation').map(({ doc }) => doc);
  const queries = {
    now: () => Promise.resolve(NOW),
    page: () => Promise.resolve({ mutations, next: null }),
    stakes: () => Promise.resolve([]),
  } as unknown as LedgerQueries; // no more is asked
  const body = contractText({ version: 2, ...changes });
  const digest = contractDigest(body).toString('hex');
  const stands = new Map<string, object>([
    ['last/*/payments.issue_refund', { digest, version: 2, by: 'ravi' }],
    [`digest/${digest}`, { body, version: 2 }],
    ['name/*/payments.issue_refund', { digest, body }],
  ]);
  const service = { view: () => Promise.resolve(changes === null ? null : stands) } as unknown as ServiceContext; // no more is asked
  const caller = { principal: { tenant: 'acme' } } as unknown as Caller; // who asks does not matter here
  const { items } = await new EffectsController(queries, {} as unknown as Reads, service).horizon(caller, {
    tenant: 'acme',
  });
  return items[0];
}

it('each window says what binds it by now, and where the contracts are not read yet what it was bound to', async () => {
  const then = {
    closes_in_ms: 3_600_000 - 1_000,
    expires_at: NOW + 3_600_000 - 1_000,
    recovery_approval_mode: 'human',
    reversal_capability: 'payments.reverse_refund',
  };
  expect(await windowUnder(null)).toMatchObject(then);
  expect(await windowUnder({ reversal_window_ms: 86_400_000, recovery_approval_mode: 'auto' })).toMatchObject(then);
  expect(await windowUnder({ reversal_window_ms: 60_000, recovery_approval_mode: 'dual_control' })).toMatchObject({
    closes_in_ms: 59_000,
    expires_at: NOW + 59_000,
    recovery_approval_mode: 'dual_control',
  });
  expect(await windowUnder({ reversal_window_ms: 500 })).toMatchObject({ closes_in_ms: 0, expires_at: NOW - 500 });
  expect(
    await windowUnder({ compensation_mode: { mode: 'manual_runbook', reason: 'by letter', runbook: 'letters.md' } }),
  ).toMatchObject({ reversal_capability: null });
});
