// The logs of a dump, a file each, for whoever reads it and is no judge of it.
import { join } from 'node:path';
import type { GenesisOf } from '@recourse/chain';
import { CliProblem } from '../problem.js';
import { filesOf } from './dump.js';
import { headerOf } from './dump-file.js';
import { partitionName } from './report.js';

/** A file of a dump, and the log that it says it holds. */
export interface DumpedLog {
  readonly file: string;
  readonly path: string;
  readonly of: GenesisOf;
}

/**
 * Errors: CliProblem(DUMP_UNREADABLE) for no dump, for a file that is of no log, for one that holds a partition twice (which of the two counts nobody can say), and for
 * one whose logs are of several deployments.
 */
export function logsIn(folder: string): readonly DumpedLog[] {
  const logs = filesOf(folder).map((file): DumpedLog => {
    const path = join(folder, file);
    const of = headerOf(path);
    if (of === null)
      throw new CliProblem('DUMP_UNREADABLE', `${file} does not begin with the header of a log`, 'found', {
        remedy: 'Take it away where it is none of the dump; `recourse audit verify --dump` says what is wrong with it.',
      });
    return { file, path, of };
  });
  const files = new Map<string, string>();
  for (const { file, of } of logs) {
    const name = partitionName(of.topic, of.partition);
    const first = files.get(name);
    if (first !== undefined)
      throw new CliProblem('DUMP_UNREADABLE', `${first} and ${file} both hold ${name}`, 'found', {
        remedy: 'Take away the one that is not of the dump; `recourse audit verify --dump` judges both.',
      });
    files.set(name, file);
  }
  const [one, other] = [...new Set(logs.map(({ of }) => of.logId))];
  if (one !== undefined && other !== undefined)
    throw new CliProblem('DUMP_UNREADABLE', `it holds logs of ${one} and of ${other}`, 'found', {
      remedy:
        'Keep the logs of one deployment in one folder; `recourse audit verify --dump` says which file is of which.',
    });
  return logs;
}
