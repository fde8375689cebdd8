// Every spelling under which rows of an agent stand: an agent is one however its name is spelt, and so are lists of what is its own.
import { personKey } from '@recourse/kernel';
import { tenantOfRead } from '@recourse/service';
import type { Caller, Reads } from '@recourse/service';
import { BUDGETS_LOG } from '../core.js';
import { namesGroup, usualNames } from '../rows/names.rows.js';

/** Spellings that are looked through where all tenants are asked about; of one tenant only the agent's own are read. */
const SPELLINGS_MAX = 10_000;

/** As it is spelt here, as it is usually spelt, and as anything that was counted or set for it was. Errors: those of Reads. */
export async function spellingsOf(
  reads: Pick<Reads, 'every'>,
  caller: Pick<Caller, 'principal'>,
  agent: string,
  named: string | undefined,
): Promise<readonly string[]> {
  const tenant = tenantOfRead(caller.principal, named);
  const where = tenant === undefined ? {} : { group_key: namesGroup({ tenant, name: agent }) };
  const query = { log: BUDGETS_LOG, kind: 'agent_name', where, tenant: named };
  const names = (await reads.every(caller, query, SPELLINGS_MAX)).map(({ name }) => String(name));
  const others = names.filter((name) => personKey(name) === personKey(agent));
  return [...new Set([agent, ...usualNames(agent), ...others])];
}
