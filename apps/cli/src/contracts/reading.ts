// Contracts for the commands: from a file, or a version from the registry.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Doc } from '@recourse/sdk';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { readOne, withoutSchemaLink } from './files.js';

/** A version as the registry shows it; the newest unless one is named. Errors: those of EdgeClient.get. */
export async function registered(session: Session, name: string, version: number | undefined): Promise<Doc> {
  const query = { version: version?.toString(), tenant: session.tenant };
  return session.service('contracts').get(`/v1/contracts/${encodeURIComponent(name)}`, query);
}

/** A capability is no path: files have a suffix, or a folder before them. */
export function isFile({ folder }: Session, name: string): boolean {
  return /\.(?:ya?ml|json)$/.test(name) && existsSync(resolve(folder, name));
}

/** The contract in a file. Errors: CliProblem(FILE_UNREADABLE, CONTRACT_UNREADABLE). */
export function contractIn(path: string, folder: string): Contract {
  return shaped(withoutSchemaLink(readOne(path, folder).value), path);
}

/** Two versions of one capability. Errors: those of contractIn; CliProblem(CAPABILITIES_DIFFER). */
export function versionsIn(older: string, newer: string, folder: string): readonly [Contract, Contract] {
  const [before, after] = [contractIn(older, folder), contractIn(newer, folder)];
  if (before.name === after.name) return [before, after];
  throw new CliProblem(
    'CAPABILITIES_DIFFER',
    `${older} is of ${before.name} and ${newer} of ${after.name}: a difference is between two versions of one capability`,
    'usage',
    { remedy: 'Name two files of one capability.' },
  );
}

/** Errors: CliProblem(CONTRACT_UNREADABLE) with every problem of its shape. */
export function shaped(value: Json, where: string): Contract {
  const read = parseContract(JSON.stringify(value));
  if (read.ok) return read.contract;
  throw new CliProblem('CONTRACT_UNREADABLE', `${where} is no contract`, 'usage', {
    problems: read.problems,
    remedy: 'See `recourse contract lint`.',
  });
}
