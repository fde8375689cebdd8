// What a question is about: all agents, or one; the capabilities they use or may use, and the effects they had. Pure.
import { hasSideEffects } from '@recourse/contract';
import { personKey } from '@recourse/kernel';
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { fits } from '../eval/suite.js';
import type { Fact, Seen, Standing } from './seen.js';

/** Whose contract everybody's calls are under, and whose charter holds everywhere. */
export const ALL = '*';

export interface Scope {
  readonly seen: Seen;
  /** Null: all. */
  readonly agent: string | null;
  /** Capabilities that were called, or that a charter or a list of tools lets the agent call; in order of names. */
  readonly capabilities: readonly string[];
  /** The same, each with a tenant that it is used in; `*`: nobody says where. */
  readonly uses: readonly { readonly name: string; readonly tenant: string }[];
  /** Contracts that stand for them, where they are used. */
  readonly contracts: readonly Standing[];
  /** Those of them that change something. */
  readonly acting: readonly Standing[];
  /** What was done, reads left out. */
  readonly effects: readonly Doc[];
  /** Steps about these effects, by mutation. */
  readonly steps: ReadonlyMap<string, Doc>;
}

/** Narrows what was seen. `tools` are capabilities that the agent is known to have besides. */
export function scopeOf(seen: Seen, agent: string | null, tools: readonly string[] = []): Scope {
  const standing = valueOf(seen.contracts);
  const all = valueOf(seen.effects).filter((row) => agent === null || agentOf(row) === personKey(agent));
  const effects = all.filter((row) => row['reason'] !== 'READ_ONLY');
  const charters = chartersOf(seen, agent);
  const tenants = new Set([...all.map(tenantOf), ...charters.map(({ tenant }) => tenant).filter((one) => one !== ALL)]);
  // What it has everywhere it has in each tenant it is known in; of a question about all nobody says where.
  const everywhere = agent === null || tenants.size === 0 ? [ALL] : [...tenants];
  const uses = [
    ...all.map((row) => ({ name: String(row['capability']), tenant: tenantOf(row) })),
    ...tools.flatMap((name) => everywhere.map((tenant) => ({ name, tenant }))),
    ...charters.flatMap((charter) =>
      namesIn(charter.allowed, standing).flatMap((name) =>
        (charter.tenant === ALL ? everywhere : [charter.tenant]).map((tenant) => ({ name, tenant })),
      ),
    ),
    // What anybody may call is in the scope of a question about all.
    ...(agent === null
      ? standing.filter(({ contract }) => hasSideEffects(contract)).map(({ name }) => ({ name, tenant: ALL }))
      : []),
  ];
  const named = new Set(uses.map(({ name }) => name));
  const contracts = standing.filter(
    ({ name, tenant }) => named.has(name) && everywhere.some((where) => covers(tenant, where)),
  );
  return {
    seen,
    agent,
    capabilities: [...named].sort(),
    uses: [...new Map(uses.map((use) => [`${use.name}\n${use.tenant}`, use] as const)).entries()]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, use]) => use),
    contracts,
    acting: contracts.filter(({ contract }) => hasSideEffects(contract)),
    effects,
    steps: new Map(valueOf(seen.steps).map((step) => [String(step['mutation_id']), step])),
  };
}

/** Names that a charter allows, and those of contracts that its patterns fit. */
function namesIn(allowed: readonly string[], standing: readonly Standing[]): readonly string[] {
  const patterns = allowed.filter((name) => name.endsWith('*'));
  return [
    ...allowed.filter((name) => !name.endsWith('*')),
    ...standing.map(({ name }) => name).filter((name) => patterns.some((one) => fits(one, name))),
  ];
}

/** Does a contract of `owner` bind calls in a tenant? Any does where nobody says in which. */
export function covers(owner: string, tenant: string): boolean {
  return owner === ALL || tenant === ALL || owner === tenant;
}

/** Tenant that an effect is of. */
export function tenantOf(row: Doc): string {
  return String(docOf(row['execution'])['tenant']);
}

/** Agent that had an effect: one however its name is spelt. */
export function agentOf(row: Doc): string {
  return personKey(String(docOf(row['execution'])['agent_id']));
}

/** Charters that are about the agent; all for null. */
export function chartersOf(
  seen: Pick<Seen, 'charters'>,
  agent: string | null,
): readonly { readonly agent: string; readonly tenant: string; readonly allowed: readonly string[] }[] {
  return valueOf(seen.charters)
    .map((row) => ({ tenant: typeof row['tenant'] === 'string' ? row['tenant'] : ALL, body: entryOf(row) }))
    .map(({ tenant, body }) => ({ agent: String(body['agent']), tenant, allowed: textsOf(body['allowed']) }))
    .filter((charter) => agent === null || personKey(charter.agent) === personKey(agent));
}

/** Body of an entry of the registry: JSON as text, or as it is. */
export function entryOf(row: Doc): Doc {
  const body = row['body'] ?? row['entry'];
  if (typeof body !== 'string') return docOf(body);
  try {
    return docOf(JSON.parse(body));
  } catch {
    return {};
  }
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Rows of a fact; none where it was not read: whoever needs it fails before (H1). */
export function valueOf<T>(fact: Fact<readonly T[]>): readonly T[] {
  return fact.ok ? fact.value : [];
}

/** Effects that took hold. */
export function happened({ effects }: Scope): readonly Doc[] {
  return effects.filter((row) => row['execution_state'] === 'succeeded');
}
