// A wire and the record of it as one file: enough of Recourse to see what a crash leaves, without a broker.
import { existsSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { MemoryProducer, mutationId } from '@recourse/sdk';
import type { Action, ActionOutcome, Producer, Standing, StandingAnswer } from '@recourse/sdk';

/** One line of the file. `outcome` is null for an intent; `reconciled` is what somebody found out at the provider. */
interface Line {
  readonly mutation: string;
  readonly type: 'planned' | 'executed' | 'reconciled';
  readonly outcome: 'succeeded' | 'failed' | 'uncertain' | null;
}

function linesOf(path: string): readonly Line[] {
  if (!existsSync(path)) return [];
  // Only append() writes this file.
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

async function append(path: string, line: Line): Promise<string> {
  const file = await open(path, 'a');
  try {
    await file.writeFile(`${JSON.stringify(line)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return line.mutation;
}

/** Tells a file. Each line is on disk before the call resolves, as a broker's acknowledgement promises. */
export function fileProducer(path: string): Producer {
  const mutation = ({ tenant, runId, effectKey }: Action): string => mutationId(tenant, runId, effectKey);
  return Object.assign(new MemoryProducer(), {
    toolPlanned: (action: Action) => append(path, { mutation: mutation(action), type: 'planned', outcome: null }),
    toolExecuted: (action: Action, { outcome }: ActionOutcome) =>
      append(path, { mutation: mutation(action), type: 'executed', outcome }),
  });
}

/** The record, as the ledger would make it of the same file. */
export class FileStanding implements Standing {
  constructor(private readonly path: string) {}

  of(mutation: string): Promise<StandingAnswer> {
    const told = linesOf(this.path).filter((line) => line.mutation === mutation);
    const last = told.at(-1);
    if (last === undefined) return Promise.resolve({ kind: 'unrecorded' });
    const execution = last.outcome ?? 'planned';
    return Promise.resolve({
      kind: 'recorded',
      execution,
      recoverability: execution === 'succeeded' ? 'reversal_available' : 'planned',
      ends: told.filter(({ outcome }) => outcome !== null).length,
      fell: false,
    });
  }
}

/** Puts on record what somebody found out at the provider. */
export async function reconcile(path: string, mutation: string, outcome: 'succeeded' | 'failed'): Promise<void> {
  await append(path, { mutation, type: 'reconciled', outcome });
}
