// What `npm start` runs once everything is installed: the stack, the processes on top, the story, and then it stays up.
//
// Invariants
//   I1. Whatever fails, and whichever signal comes, everything that was started is stopped, processes before servers.
//   I2. The exit code is 0 only if nothing failed.
import { HELP, parseStartOptions, type StartOptions } from '../../../scripts/lib/start-options.mjs';
import { step } from '../../../scripts/lib/progress.mjs';
import { adaptersIn } from './adapters.js';
import { deathOf } from './ended.js';
import { makePrivately } from './private-data.js';
import { startProcesses, type ProcessSpec, type Processes } from './processes.js';
import { startStack, type DevStack } from './stack.js';

/** Programs to run on top of the stack. */
export type PlanProcesses = (stack: DevStack, options: StartOptions) => Promise<readonly ProcessSpec[]>;
/** Plays the story; resolves to false when one of its checks did not hold. */
export type PlayStory = (stack: DevStack, processes: Processes, options: StartOptions) => Promise<boolean>;

export interface Programme {
  readonly processes: PlanProcesses;
  readonly story: PlayStory;
  /** Lines that say where the programme's own parts are. */
  readonly whereabouts: () => readonly string[];
}

/** What nobody should take for granted. */
const OPEN = [
  '  Anybody on this machine may write to the broker and to the schema registry: `npm start -- --secure` asks who they are.',
];
const SECURE = [
  '  Secure: Kafka knows each service and program by a password (SCRAM-SHA-512) and lets it do what schemas/topics.json says',
  '  of it; the schema registry lets strangers read only; records of wires and batches of logs are signed, and nobody without a',
  '  key in the keyring is believed. Not so: connections stay on this machine in clear text, and the issuer hands a token for',
  '  anybody to anybody.',
];

interface Session {
  stack: DevStack | null;
  processes: Processes | null;
  /** From the start of the process to the last of its parts, milliseconds. */
  readyMs: number;
}

/** Runs the launcher and resolves to its exit code. */
export async function launch(args: readonly string[], programme: Programme): Promise<number> {
  const options = parseStartOptions(args);
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const session: Session = { stack: null, processes: null, readyMs: 0 };
  const interrupted = firstSignal();
  const died = Promise.withResolvers<string>();
  const run = runProgramme(session, options, programme, died.resolve);
  const ended = await Promise.race([
    run.then(
      (ok) => ({ ok }),
      (cause: unknown) => ({ failure: cause instanceof Error ? cause.message : String(cause) }),
    ),
    interrupted.then((signal) => ({ signal })),
    died.promise.then((failure) => ({ failure })),
  ]);
  if ('failure' in ended) process.stderr.write(`\n${ended.failure}\n`);
  if ('ok' in ended && !options.once) {
    printWhereabouts(session, programme.whereabouts());
    const later = await Promise.race([interrupted.then(() => null), died.promise]);
    if (later !== null) process.stderr.write(`\n${later}\n`);
    await stopAll(session);
    return later === null && ended.ok ? 0 : 1;
  }
  await stopAll(session);
  return 'signal' in ended ? 130 : 'ok' in ended && ended.ok ? 0 : 1;
}

async function runProgramme(
  session: Session,
  options: StartOptions,
  programme: Programme,
  onDeath: (how: string) => void,
): Promise<boolean> {
  makePrivately(options.dataDir);
  const start = { ...options, adapters: adaptersIn(process.env) };
  const stack = await step('starting Kafka, registry and PostgreSQL', (say) =>
    startStack({
      dataDir: options.dataDir,
      secure: options.secure,
      reset: options.reset,
      onProgress: say,
      handleSignals: false,
      onPartExit: (part, how) => {
        onDeath(deathOf(part, how, `${options.dataDir}/logs`, start));
      },
    }),
  );
  session.stack = stack;
  process.stdout.write(`${(options.secure ? SECURE : OPEN).join('\n')}\n`);
  const specs = await programme.processes(stack, options);
  const processes = await step(`starting ${String(specs.length)} processes`, (say) =>
    startProcesses(specs, {
      logDir: stack.logDir,
      book: stack.book,
      onProgress: say,
      onExit: (name, how) => {
        onDeath(deathOf(name, how, stack.logDir, start));
      },
    }),
  );
  session.processes = processes;
  session.readyMs = performance.now();
  return programme.story(stack, processes, options);
}

function stopAll(session: Session): Promise<void> {
  return step('stopping everything', async () => {
    await session.processes?.stop();
    await session.stack?.stop();
  });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function printWhereabouts(session: Session, more: readonly string[]): void {
  const { stack } = session;
  if (stack === null) return;
  const { user, host, port } = stack.postgres;
  process.stdout.write(
    [
      '',
      `Everything was ready in ${seconds(session.readyMs)}; of that Kafka, registry and PostgreSQL took ${seconds(stack.readyMs)}`,
      `  Kafka       ${stack.kafka.brokers.join(',')}`,
      `  schemas     ${stack.registryUrl}`,
      `  PostgreSQL  postgres://${user}@${host}:${String(port)}/postgres (password in ${stack.dataDir}/stack.json)`,
      `  logs        ${stack.logDir}`,
      ...more,
      '',
      'Press Ctrl-C to stop everything.',
      '',
    ].join('\n'),
  );
}

/** Resolves at the first signal; later ones are ignored, because the stop has deadlines of its own. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        resolve(signal);
      });
  });
}
