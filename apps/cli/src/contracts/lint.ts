// Checks contract files against each other, without any service. Pure.
import { adviceOn, parseContract, reviewContract } from '@recourse/contract';
import type { Advice, Contract, ContractProblem, KnownCapabilities } from '@recourse/contract';
import { countText } from '../output/count-text.js';
import { withoutSchemaLink } from './files.js';
import type { FileDocument } from './files.js';

/** What is said of one contract. */
export interface LintReport {
  readonly file: string;
  /** Null where the file does not say. */
  readonly capability: string | null;
  readonly problems: readonly ContractProblem[];
  /** Only of contracts without problems. */
  readonly advice: readonly Advice[];
}

/**
 * Lints contracts as one set: each may name the others, and `elsewhere` names those that stand without being here.
 */
export function lintDocuments(
  documents: readonly FileDocument[],
  elsewhere: readonly string[] = [],
): readonly LintReport[] {
  const bodies = documents.map(({ file, value }) => ({ file, body: JSON.stringify(withoutSchemaLink(value)) }));
  const contracts = new Map(
    bodies.flatMap(({ body }) => {
      const read = parseContract(body);
      return read.ok ? [[read.contract.name, read.contract] as const] : [];
    }),
  );
  const names = new Set([...documents.flatMap(({ value }) => nameIn(value) ?? []), ...elsewhere]);
  const known: KnownCapabilities = { has: (name) => names.has(name), contractOf: (name) => contracts.get(name) };
  return bodies.map(({ file, body }, at) => {
    const review = reviewContract(body, known);
    const capability = nameIn(documents[at]?.value ?? null);
    return review.ok
      ? { file, capability, problems: [], advice: adviceOn(review.contract) }
      : { file, capability, problems: review.problems, advice: [] };
  });
}

/** Contracts in an order in which they register: what is named comes first; circles stay as they were given. */
export function inOrder(
  contracts: readonly Contract[],
  namesOf: (contract: Contract) => readonly string[],
): readonly Contract[] {
  const done: Contract[] = [];
  const visit = (contract: Contract, path: readonly string[]): void => {
    if (done.includes(contract) || path.includes(contract.name)) return;
    for (const name of namesOf(contract))
      for (const other of contracts.filter((each) => each.name === name)) visit(other, [...path, contract.name]);
    done.push(contract);
  };
  for (const contract of contracts) visit(contract, []);
  return done;
}

/** The same as groups that register one after the other: what names each other in a circle is one group. */
export function inGroups(
  contracts: readonly Contract[],
  namesOf: (contract: Contract) => readonly string[],
): readonly (readonly Contract[])[] {
  const named = new Map(contracts.map((contract) => [contract.name, namesOf(contract)] as const));
  const reached = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const name of named.get(from) ?? [])
      if (!seen.has(name)) {
        seen.add(name);
        reached(name, seen);
      }
    return seen;
  };
  const groups: Contract[][] = [];
  for (const contract of inOrder(contracts, namesOf)) {
    const circle = groups.find(([first]) => first !== undefined && isCircle(first.name, contract.name, reached));
    // Where its last member stands, all that any member names has been before.
    if (circle !== undefined) groups.splice(groups.indexOf(circle), 1);
    groups.push([...(circle ?? []), contract]);
  }
  return groups;
}

function isCircle(one: string, other: string, reached: (from: string) => ReadonlySet<string>): boolean {
  return one !== other && reached(one).has(other) && reached(other).has(one);
}

/** The reports as people read them. */
export function lintText(reports: readonly LintReport[]): string {
  const wrong = reports.filter(({ problems }) => problems.length > 0).length;
  const lines = reports.flatMap(({ file, capability, problems, advice }) => [
    `${file}  ${capability ?? 'no capability'}  ${problems.length === 0 ? 'registers' : countText(problems.length, 'problem')}`,
    ...problems.map(
      ({ code, path, message }) =>
        `  ${code} at ${path === undefined || path === '' ? 'the contract' : path}: ${message}`,
    ),
    ...advice.map(
      ({ code, path, technique, message }) =>
        `  advice ${code} at ${path}${technique === null ? '' : ` (${technique})`}: ${message}`,
    ),
  ]);
  return [...lines, '', `${countText(reports.length, 'contract')}, ${wrong} with problems`].join('\n');
}

function nameIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('name' in value)) return null;
  return typeof value.name === 'string' ? value.name : null;
}
