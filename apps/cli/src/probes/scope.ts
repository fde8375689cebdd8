// What a question is about: all agents, or one; the capabilities they use or may use, and the effects they had. Pure.
import { hasSideEffects } from '@recourse/contract';
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { fits } from '../eval/suite.js';
import type { Fact, Seen, Standing } from './seen.js';

export interface Scope {
  readonly seen: Seen;
  /** Null: all. */
  readonly agent: string | null;
  /** Capabilities that were called, or that a charter or a list of tools lets the agent call; in order of names. */
  readonly capabilities: readonly string[];
  /** Contracts that stand for them. */
  readonly contracts: readonly Standing[];
  /** Those of them that change something. */
  readonly acting: readonly Standing[];
  /** What was done, reads left out. */
  readonly effects: readonly Doc[];
  /** Runs that had effects. */
  readonly runs: ReadonlySet<string>;
  /** Steps about these effects, by mutation. */
  readonly steps: ReadonlyMap<string, Doc>;
}

/** Narrows what was seen. `tools` are capabilities that the agent is known to have besides. */
export function scopeOf(seen: Seen, agent: string | null, tools: readonly string[] = []): Scope {
  const standing = valueOf(seen.contracts);
  const all = valueOf(seen.effects).filter((row) => agent === null || docOf(row['execution'])['agent_id'] === agent);
  const effects = all.filter((row) => row['reason'] !== 'READ_ONLY');
  const allowed = chartersOf(seen, agent).flatMap(({ allowed: names }) => names);
  const named = new Set([
    ...all.map((row) => String(row['capability'])),
    ...tools,
    ...allowed.filter((name) => !name.endsWith('*')),
    ...standing.map(({ name }) => name).filter((name) => allowed.some((one) => one.endsWith('*') && fits(one, name))),
    // What anybody may call is in the scope of a question about all.
    ...(agent === null ? standing.filter(({ contract }) => hasSideEffects(contract)).map(({ name }) => name) : []),
  ]);
  const contracts = standing.filter(({ name }) => named.has(name));
  return {
    seen,
    agent,
    capabilities: [...named].sort(),
    contracts,
    acting: contracts.filter(({ contract }) => hasSideEffects(contract)),
    effects,
    runs: new Set(effects.map((row) => String(row['run_id']))),
    steps: new Map(valueOf(seen.steps).map((step) => [String(step['mutation_id']), step])),
  };
}

/** Charters that are about the agent; all for null. */
export function chartersOf(
  seen: Pick<Seen, 'charters'>,
  agent: string | null,
): readonly { readonly agent: string; readonly allowed: readonly string[] }[] {
  return valueOf(seen.charters)
    .map((row) => entryOf(row))
    .filter((body) => agent === null || body['agent'] === agent)
    .map((body) => ({ agent: String(body['agent']), allowed: textsOf(body['allowed']) }));
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
