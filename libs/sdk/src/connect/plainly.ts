// What a program prints where something it stands on is away: one line with a code, an address and what to do, in place of a trace.
import { inspect } from 'node:util';
import { Failure } from '@recourse/kernel';
import { EdgeProblem } from '../edge/edge.js';
import type { AnsweredStep, WorkerNote } from '../worker/worker.messages.js';
import { ConnectProblem } from './connect.problem.js';
import type { Whereabouts } from './whereabouts.js';

/** Where Kafka and the schema registry are asked. */
export type WirePlaces = Pick<Whereabouts, 'brokers' | 'registryUrl'>;

/** What is said of a code of Kafka or the registry: who was asked, and where. */
const ASKED: Readonly<Record<string, (places: WirePlaces) => string>> = {
  BROKER_UNAVAILABLE: ({ brokers }) => `Kafka at ${brokers.join(', ')}`,
  REGISTRY_UNAVAILABLE: ({ registryUrl }) => `the schema registry at ${registryUrl}`,
};

/** What Kafka or the registry threw, with the address it was asked at and what to do; anything else as it is. Pure. */
export function withAddress(thrown: unknown, places: WirePlaces): unknown {
  const asked = thrown instanceof Failure ? ASKED[thrown.code]?.(places) : undefined;
  if (!(thrown instanceof Failure) || asked === undefined) return thrown;
  const what = thrown.message.replace(`${thrown.code}: `, '');
  const remedy = 'Check that it runs (`npm start` starts a development stack) and that its address is right.';
  return new Failure(thrown.code, `${asked} does not answer (${what}). ${remedy}`, { cause: thrown });
}

/** What was thrown, in one line without a trace; null for what is no problem of ours, whose trace is needed. Pure. */
export function plainly(thrown: unknown): string | null {
  if (thrown instanceof ConnectProblem || thrown instanceof EdgeProblem) return inOneLine(thrown.message);
  if (!(thrown instanceof Failure)) return null;
  const [first, ...rest] = whys(thrown);
  const last = rest.at(-1);
  // What is at the bottom names the address, where nothing above does.
  return inOneLine(
    last === undefined || first?.includes(last) === true ? thrown.message : `${thrown.message} (${last})`,
  );
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ');
}

/** Messages of an error and of its causes, from the top. */
function whys(error: Error): readonly string[] {
  const { message, cause } = error;
  return cause instanceof Error && !(cause instanceof Failure) ? [message, ...whys(cause)] : [message];
}

/**
 * A note of a worker in one line, with the run, each step and why it ended as it did; trouble without its trace. Pure.
 *
 * Shape: words of a tool and names from outside stand in quotes, as JSON writes them, so that none of them moves a terminal.
 */
export function noteLine(note: WorkerNote): string {
  switch (note.type) {
    case 'assigned':
      return note.partitions.length === 0
        ? 'asked of no partition: other workers of its group have them'
        : `asked on partitions ${note.partitions.join(', ')}`;
    case 'answered':
      return `answered for run ${JSON.stringify(note.runId)} (leg ${note.legId}): ${note.steps.map(stepText).join('; ')}`;
    case 'held_back':
      return `held back before step ${JSON.stringify(note.stepId)} of run ${JSON.stringify(note.runId)} (leg ${note.legId}): ${JSON.stringify(note.reason)}`;
    case 'unreadable':
    case 'refused':
      return `${note.type}: the request at offset ${note.offset} of partition ${note.partition}: ${JSON.stringify(note.reason)}`;
    case 'trouble': {
      const { doing, cause } = note;
      const why = plainly(cause) ?? (cause instanceof Error ? `${cause.name}: ${cause.message}` : inspect(cause));
      return `trouble: ${doing}: ${why}`;
    }
  }
}

function stepText({ stepId, outcome, errorKind, detail }: AnsweredStep): string {
  const why = [errorKind, detail === null ? null : JSON.stringify(detail)].filter((part) => part !== null);
  return `step ${JSON.stringify(stepId)} ${outcome}${why.length === 0 ? '' : ` (${why.join(': ')})`}`;
}

/** The process, as far as its end goes. */
export type Ending = Pick<NodeJS.Process, 'exit'> & {
  once(event: 'uncaughtException', hears: (thrown: unknown) => void): unknown;
};

/**
 * Has this process end with one line where something it stands on is away: call it first in a program of your own.
 *
 * Shape: the exit code is 1, as it is without. What is no problem of ours keeps its trace.
 */
export function endPlainly(
  ending: Ending = process,
  say: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): void {
  ending.once('uncaughtException', (thrown) => {
    say(plainly(thrown) ?? inspect(thrown));
    ending.exit(1);
  });
}
