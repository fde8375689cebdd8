// The contract files of examples/contracts that some capabilities need, each after those it names.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { capabilitiesNamed, parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';

const FOLDER = fileURLToPath(new URL('../../../contracts/', import.meta.url));

/** Contracts of the capabilities and of everything they name, in an order in which they register. Errors: a file that is missing or no contract. */
export function contractFiles(capabilities: readonly string[]): readonly Contract[] {
  const done = new Map<string, Contract>();
  const visit = (name: string): void => {
    if (done.has(name)) return;
    const contract = readContract(name);
    for (const named of capabilitiesNamed(contract)) if (named.name !== name) visit(named.name);
    done.set(name, contract);
  };
  capabilities.forEach(visit);
  return [...done.values()];
}

function readContract(name: string): Contract {
  const parsed = parseContract(readFileSync(`${FOLDER}${name}.json`, 'utf8'));
  if (!parsed.ok)
    throw new Error(`${name}.json is no contract: ${parsed.problems.map(({ message }) => message).join('; ')}`);
  return parsed.contract;
}
