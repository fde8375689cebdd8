// Rows of how agents' names are spelt: an agent has one account, and rows are keyed by the spelling under which it stands. Holds no rules.
import { row } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { deriveId, personKey } from '@recourse/kernel';

/** A spelling of an agent's name under which something was counted or set; none of those that are looked up anyway. */
interface AgentName {
  readonly tenant: string;
  readonly name: string;
}

export const namesGroup = ({ tenant, name }: AgentName): string => deriveId('agn', tenant, personKey(name));

export const agentNames = row<AgentName>({
  kind: 'agent_name',
  table: 'agent_names',
  group: namesGroup,
  key: ({ tenant, name }) => deriveId('agn', tenant, name),
  columns: { tenant: 'text', name: 'text' },
});

/** Spellings that follow from a key; every other one is remembered. */
export function usualNames(agent: string): readonly string[] {
  const key = personKey(agent);
  return [key, `agent:${key}`, `user:${key}`];
}

/** Under which an agent may have budgets; its key first. */
export function namesOf(state: StateView, tenant: string, agent: string): readonly string[] {
  const others = agentNames.list(state, namesGroup({ tenant, name: agent }));
  return [...usualNames(agent), ...others.map(({ name }) => name)];
}

/** Remembers a spelling, so that every other one finds what stands under it. */
export function spelt(state: StateView, tenant: string, name: string): readonly Change[] {
  if (usualNames(name).includes(name)) return [];
  const known = agentNames.find(state, namesGroup({ tenant, name }), deriveId('agn', tenant, name));
  return known === null ? [agentNames.put({ tenant, name })] : [];
}
