// Kill switches as they stand in the view of entries: what they stop, and whether some agent is stopped at all.
import { personKey } from '@recourse/kernel';
import type { ContractEntries } from '../view.js';
import { entryPlace, placeOf } from './places.js';
import { isOver } from './verdicts.js';
import type { Acting, Verdict } from './verdicts.js';
import { bodyOf, namesIn } from './view.js';

/** Says whether a kill switch stops this: over the tenant, over all, over the agent or who speaks for it, or over the capability. */
export function killVerdict(view: ContractEntries, acting: Acting): Verdict {
  const { tenant, agent, capability, asker } = acting;
  const agents = new Set([agent, ...(asker === undefined ? [] : [asker.principal, ...asker.accounts])].map(personKey));
  const scopes = [
    { scope: 'tenant', agent },
    ...[...agents].map((each) => ({ scope: `agent/${each}`, agent: each })),
    { scope: `capability/${capability}`, agent },
  ];
  for (const owner of [tenant, '*']) {
    for (const { scope, ...named } of scopes) {
      const name = namesIn(view.get(placeOf('kill', owner, scope))).find((each) => {
        const found = view.get(entryPlace('kill_switch', owner, each));
        const over = found === undefined ? null : bodyOf('kill_switch', String(found['body']), owner).scope;
        return over !== null && isOver(over, { ...acting, ...named });
      });
      if (name !== undefined)
        return {
          admitted: false,
          code: 'KILLED',
          reason: `the kill switch ${name} stops ${scope} of ${owner === '*' ? 'all tenants' : owner}`,
        };
    }
  }
  return { admitted: true };
}

/** Is there a switch over some agent of the tenant? Then whoever says not which one acts may be that one. */
export function isSomeAgentStopped(view: ContractEntries, tenant: string): boolean {
  return [tenant, '*'].some((owner) => namesIn(view.get(placeOf('kill', owner, 'agents'))).length > 0);
}
