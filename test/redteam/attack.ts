// What an attack is, and the checker that says whether a system held (D57).
//
// Boundary: attacks speak over public surfaces alone: HTTP with tokens anybody of that role may have, wires, tools, texts.

export const KINDS = ['injection', 'tool_abuse', 'leakage', 'jailbreak'] as const;
export type Kind = (typeof KINDS)[number];
export const SURFACES = ['edge', 'wire', 'worker', 'review'] as const;
export type Surface = (typeof SURFACES)[number];

export interface Attack<Stage> {
  readonly id: string;
  readonly kind: Kind;
  readonly surface: Surface;
  /** What is tried, as somebody who was not there reads it. */
  readonly tried: string;
  /** What a system that held is seen to do. */
  readonly holds: string;
  /** Tries it. Returns what was seen, in the same words. */
  readonly act: (stage: Stage) => Promise<string>;
}

export interface Outcome {
  readonly id: string;
  readonly held: boolean;
  readonly seen: string;
}

/** Tries every attack, one after the other. Errors: none: an attack that cannot be tried has not been held off. */
export async function tryAll<Stage>(attacks: readonly Attack<Stage>[], stage: Stage): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { id, holds, act } of attacks) {
    const seen = await act(stage).catch((cause: unknown) => `could not be tried: ${String(cause)}`);
    outcomes.push({ id, held: seen === holds, seen });
  }
  return outcomes;
}

/** What a set of attacks leaves out: kinds and surfaces nobody tries, ids that stand twice. */
export function gapsIn(attacks: readonly Attack<never>[]): readonly string[] {
  const missing = (name: string, all: readonly string[], had: readonly string[]): readonly string[] =>
    all.filter((one) => !had.includes(one)).map((one) => `no attack of ${name} ${one}`);
  const ids = attacks.map(({ id }) => id);
  return [
    ...missing(
      'kind',
      KINDS,
      attacks.map(({ kind }) => kind),
    ),
    ...missing(
      'surface',
      SURFACES,
      attacks.map(({ surface }) => surface),
    ),
    ...ids.filter((id, at) => ids.indexOf(id) < at).map((id) => `${id} stands twice`),
  ];
}
