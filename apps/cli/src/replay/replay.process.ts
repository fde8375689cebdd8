// Asks the process of the service that owns a log to rebuild its state: the fold is the service's own code, which the command
// line does not import.
//
// Boundary: the request, which may hold a password, goes through standard input; lines of JSON come back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { FAILURES } from '@recourse/kernel';
import { z } from 'zod';
import type { KafkaUser } from '../config.js';
import { CliProblem } from '../problem.js';
import type { KeysTold } from '../signing.js';
import type { ReplayedPartition } from './replay.report.js';

/** What is asked; names as they stand on the wire. */
export interface ReplayAsked {
  readonly brokers: readonly string[];
  readonly kafka_user: KafkaUser;
  readonly keys: KeysTold;
  readonly registry_url: string;
  readonly log_id: string;
  readonly log: string;
  /** null: all. */
  readonly partition: number | null;
  readonly until_seq: number | null;
  /** Epoch milliseconds. */
  readonly as_of: number | null;
  /** null: nothing is compared. */
  readonly database_url: string | null;
}

export interface ReplayProgress {
  readonly partition: number;
  readonly offset: number;
  readonly end: number;
}

const line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), partition: z.int(), offset: z.int(), end: z.int() }),
  z.object({
    type: z.literal('partition'),
    log: z.string(),
    partition: z.int(),
    seq: z.int(),
    hash: z.string(),
    decided_at: z.int().nullable(),
    rows: z.int(),
    voids: z.int(),
    state_hash: z.string(),
    ended_by: z.enum(['log', 'bound']),
    projected: z
      .object({
        seq: z.int(),
        state_hash: z.string(),
        verdict: z.enum(['same', 'differs', 'columns_differ', 'log_cut', 'rewritten']),
        columns: z.array(z.object({ kind: z.string(), group: z.string(), key: z.string(), column: z.string() })),
      })
      .nullable(),
  }),
  z.object({ type: z.literal('problem'), code: z.string(), message: z.string() }),
]);

const STDERR_KEPT = 2_000;

/** The rebuilt partitions, in order. Errors: CliProblem with the code of what was in the way; NOT_BUILT; REPLAY_BROKEN_OFF. */
export async function replayInProcess(
  service: string,
  asked: ReplayAsked,
  onProgress: (progress: ReplayProgress) => void,
): Promise<readonly ReplayedPartition[]> {
  const partitions: ReplayedPartition[] = [];
  await askProcess(service, asked, (said) => {
    const read = line.parse(said);
    if (read.type === 'problem') throw problemIn(read);
    if (read.type === 'progress') onProgress(read);
    else partitions.push(partitionOf(read));
  });
  return partitions;
}

/** Asks the program of a service once; hears each line. Errors: CliProblem(NOT_BUILT, REPLAY_BROKEN_OFF); what `onLine` throws. */
export async function askProcess(service: string, asked: object, onLine: (line: unknown) => void): Promise<void> {
  const child = spawn(process.execPath, [programOf(service)], { stdio: ['pipe', 'pipe', 'pipe'], env: process.env });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString('utf8')}`.slice(-STDERR_KEPT);
  });
  // A child that ends before it has read the request says why below.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(asked));
  const ended = once(child, 'close');
  try {
    for await (const text of createInterface({ input: child.stdout })) onLine(JSON.parse(text));
  } catch (problem) {
    child.kill();
    throw problem;
  }
  const [code] = (await ended) as [number | null];
  if (code !== 0)
    throw new CliProblem(
      'REPLAY_BROKEN_OFF',
      `the process of ${service} ended with ${String(code)}: ${said.trim()}`,
      'bug',
      { remedy: 'Report it with the lines above.' },
    );
}

/** The service's built program, beside this package. */
function programOf(service: string): string {
  const program = fileURLToPath(new URL(`../../../${service}/dist/replay.main.js`, import.meta.url));
  if (existsSync(program)) return program;
  throw new CliProblem('NOT_BUILT', `${service} is not compiled yet`, 'usage', {
    remedy: 'Run `npm run build` (npm start does it too).',
  });
}

function partitionOf({
  type: _type,
  ...partition
}: Extract<z.infer<typeof line>, { type: 'partition' }>): ReplayedPartition {
  return partition;
}

export function problemIn({ code, message }: { readonly code: string; readonly message: string }): CliProblem {
  if (code === 'PARTITION_UNKNOWN')
    return new CliProblem(code, message, 'usage', { remedy: 'Name one of its partitions, or leave the number out.' });
  const isKnown = Object.hasOwn(FAILURES, code);
  const remedy = isKnown ? FAILURES[code as keyof typeof FAILURES].summary : 'Report it with the lines above.';
  return new CliProblem(code, message.replace(`${code}: `, ''), isKnown ? 'unavailable' : 'bug', { remedy });
}
