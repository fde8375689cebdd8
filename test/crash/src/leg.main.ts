// node test/crash/dist/leg.main.js <directory> [hang]
//
// Runs one leg against a provider that is files of a directory, and prints the report of its step. With `hang` the provider takes
// effect and never answers, so that whoever started this process can kill it between call and report.
import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainPayload } from '@recourse/contract';
import type { LegRequested } from '@recourse/messages';
import { FileClaimStore, runLeg, systemClock } from '@recourse/sdk';
import type { Tool } from '@recourse/sdk';

const [, , directory, how] = process.argv;
if (directory === undefined) throw new Error('name a directory');
const effects = join(directory, 'effects.txt');

const reverse: Tool = async (_args, { idempotencyKey }) => {
  await appendFile(effects, `${idempotencyKey}\n`);
  process.stdout.write('called\n');
  if (how === 'hang')
    await new Promise((resolve) => {
      setTimeout(resolve, 60_000);
    });
  return { status: 'reversed' };
};
const look: Tool = () => Promise.resolve({ status: existsSync(effects) ? 'reversed' : 'settled' });

const LEG: LegRequested = {
  leg_id: 'leg-1',
  kind: 'compensate',
  tenant: 'acme',
  run_id: 'run-1',
  attempt: 1,
  lease_id: 'lease-1',
  not_after: systemClock.now() + 60_000,
  reconcile_first: false,
  for_observer: false,
  reason: 'agent_effect_compensation',
  steps: [
    {
      step_id: 'step-1',
      call: {
        call_id: 'rev_mut_1',
        run_id: 'run-1',
        adapter_id: 'payments',
        capability: 'payments.reverse_refund',
        args: plainPayload({ refund_id: 'rf_1' }),
        approval_mode: 'delegated',
        policy_ref: null,
        idempotency_key: 'rev_key',
        reverses_mutation_ref: 'mut_1',
        then: [],
      },
      call_timeout_ms: 30_000,
      agent_id: null,
      subject_ref: 'order/1',
      external_transaction_ref: 'rf_1',
      key_lifetime_ms: 600_000,
      reconcile_capability: 'payments.get_refund',
      stale_capability: 'payments.get_refund',
      stale_condition: 'observed.status == "settled"',
      stale_compares: null,
      verify_capability: 'payments.get_refund',
      success_condition: 'observed.status == "reversed"',
      verify_max_attempts: 1,
      verify_delay_ms: 0,
      calls_done: 0,
    },
  ],
};

const {
  steps: [report],
} = await runLeg(LEG, {
  workerId: `worker-${String(process.pid)}`,
  tools: { 'payments.reverse_refund': reverse, 'payments.get_refund': look },
  clock: systemClock,
  claimStore: new FileClaimStore(join(directory, 'claims')),
  callTimeoutMs: 30_000,
});
process.stdout.write(
  `${JSON.stringify({ outcome: report?.outcome, phases: report?.observations.map(({ phase }) => phase) })}\n`,
);
