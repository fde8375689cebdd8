// A call that failed and is made again: its next attempt asks for budget before the accountant can have heard of the failure.
import { plainPayload } from '@recourse/contract';
import type { ToolExecuted } from '@recourse/messages';
import type { EffectKind } from './contracts.js';
import type { Outside } from './outside.js';
import type { World } from './world.js';

/** A call, and what it does at the provider. */
export interface Made {
  readonly body: ToolExecuted;
  readonly kind: EffectKind;
  readonly transaction: string;
}

const EXECUTIONS = 'recourse.tool-executions';
/** How long each attempt takes, milliseconds: longer than clocks differ, so that nobody can take one for the other. */
const TAKES_MS = 3_000;

/** Makes it twice: the first attempt has no effect, the second has. */
export async function madeAgain(world: World, outside: Outside, { body, kind, transaction }: Made): Promise<void> {
  const amount_minor = JSON.parse(body.args.body.toString()).amount_minor as number;
  const tell = async (outcome: Partial<ToolExecuted>): Promise<void> => {
    outside.told += 1;
    await outside.send(EXECUTIONS, 'ToolExecuted', body.run_id, { ...body, ...outcome });
  };
  await ask(outside, body, { amount_minor, attempt: 1 });
  const began = world.databaseNow();
  await world.scheduler.sleep(world.actor('producer'), TAKES_MS);
  await ask(outside, body, { amount_minor, attempt: 2 });
  await tell({ outcome: 'failed', result: null, external_transaction_ref: null, committed_at: began });
  const beganAgain = world.databaseNow();
  await world.scheduler.sleep(world.actor('producer'), TAKES_MS);
  world.provider.issue(transaction, kind, amount_minor);
  await tell({
    event_id: `${body.event_id}-again`,
    outcome: 'succeeded',
    result: plainPayload({ refund_id: transaction }),
    external_transaction_ref: transaction,
    committed_at: beganAgain,
  });
}

function ask(
  outside: Outside,
  { tenant, run_id, effect_key, agent_id, capability, objective, subject_ref }: ToolExecuted,
  { amount_minor, attempt }: { readonly amount_minor: number; readonly attempt: number },
): Promise<string> {
  const caller = { tenant, principal: agent_id, roles: ['agent'] };
  return outside.command('recourse.budget-commands', 'ReserveBudget', tenant, caller, {
    ...{ run_id, effect_key, capability, agent_id, objective, subject_ref, attempt },
    values: [{ amount_minor, currency: 'EUR' }],
    reach: null,
  });
}
