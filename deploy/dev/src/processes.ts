// Node programs on top of the stack: services and the example's processes.
//
// Boundary: starts them in order of the list (those of one stage together), waits for their health, keeps their logs apart
// and stops them in reverse order. What they are and what they need comes in as specs.
import { join } from 'node:path';
import { pinnedNode, root } from '../../../scripts/lib/paths.mjs';
import { withoutStackVariables } from './adapters.js';
import { superviseChild, type ChildPlan, type SupervisedChild } from './child.js';
import type { StateBook } from './state-file.js';

export interface ProcessSpec {
  /** Unique; also the name of its log file. */
  readonly name: string;
  /** Absolute path of the built program. */
  readonly entry: string;
  readonly args?: readonly string[];
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Flags for Node itself. */
  readonly nodeFlags?: readonly string[];
  /** Address that answers 2xx once it is ready, for instance `http://127.0.0.1:4000/health/ready`; null: ready when it keeps running. */
  readonly readyUrl: string | null;
  /** Default 30,000. */
  readonly readyWithinMs?: number;
  /** Lower stages are ready before higher ones start. Default 0. */
  readonly stage?: number;
  /** Starts once all others are ready, and nobody waits for it. Default false. */
  readonly isBeside?: boolean;
}

export interface ProcessOptions {
  readonly logDir: string;
  /** The stack's state file, so that a killed launcher's processes are found. */
  readonly book?: StateBook;
  readonly onProgress?: (line: string) => void;
  /** A process ended that nobody asked to end. */
  readonly onExit?: (name: string, how: string) => void;
}

export interface Processes {
  readonly names: readonly string[];
  pid(name: string): number | null;
  logFile(name: string): string;
  kill(name: string, signal: NodeJS.Signals): Promise<void>;
  /** Starts a process that was killed; resolves when it is ready. */
  start(name: string): Promise<void>;
  /** Stops it if it runs, then starts it; resolves when it is ready. */
  restart(name: string): Promise<void>;
  /** Stops all, the last stage first. */
  stop(): Promise<void>;
}

const NODE_FLAGS = [
  '--enable-source-maps',
  '--disable-warning=ExperimentalWarning',
  // A decision makes much that is garbage a moment later: it dies young where the nursery is not full first.
  '--max-semi-space-size=32',
];
const STOP_WITHIN_MS = 10_000;
/** A program without an address counts as ready after it has run this long: one that cannot load ends sooner. */
const RUNS_FOR_MS = 600;

/**
 * Starts all processes, stage by stage.
 *
 * Errors: the first that does not become ready, with the last lines of its log; the others are stopped by then.
 */
export async function startProcesses(specs: readonly ProcessSpec[], options: ProcessOptions): Promise<Processes> {
  const children = new Map(
    specs.map((spec) => [spec.name, superviseChild(planOf(spec, options), options.book ?? null, options.onExit)]),
  );
  if (children.size !== specs.length)
    throw new Error(`two processes have the same name: ${specs.map(({ name }) => name).join(', ')}`);
  const group = groupOf(specs, children, options);
  const isBeside = (spec: ProcessSpec): boolean => spec.isBeside === true;
  const over = new AbortController();
  try {
    for (const stage of stagesOf(specs.filter((spec) => !isBeside(spec))))
      await Promise.all(stage.map((spec) => startOne(spec, group, options)));
  } catch (cause) {
    await group.stop();
    throw cause;
  }
  const beside = startBeside(specs.filter(isBeside), group, { options, signal: over.signal });
  return {
    ...group,
    stop: async () => {
      over.abort();
      await group.stop();
      await beside;
    },
  };
}

/** Starts what nobody waits for, stage by stage; one that does not become ready is told as one that ended. */
async function startBeside(
  specs: readonly ProcessSpec[],
  group: Processes,
  { options, signal }: { readonly options: ProcessOptions; readonly signal: AbortSignal },
): Promise<void> {
  for (const stage of stagesOf(specs)) {
    if (signal.aborted) return;
    await Promise.all(
      stage.map(({ name }) =>
        group.start(name).catch((cause: unknown) => {
          if (!signal.aborted) options.onExit?.(name, cause instanceof Error ? cause.message : String(cause));
        }),
      ),
    );
  }
}

/** Specs by stage, lowest first. Pure. */
export function stagesOf(specs: readonly ProcessSpec[]): readonly (readonly ProcessSpec[])[] {
  const stages = [...new Set(specs.map((spec) => spec.stage ?? 0))].sort((a, b) => a - b);
  return stages.map((stage) => specs.filter((spec) => (spec.stage ?? 0) === stage));
}

async function startOne(spec: ProcessSpec, group: Processes, options: ProcessOptions): Promise<void> {
  const startedAt = performance.now();
  await group.start(spec.name);
  options.onProgress?.(`${spec.name} is ready (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
}

function planOf(spec: ProcessSpec, options: ProcessOptions): ChildPlan {
  const { readyUrl } = spec;
  let startedAt = 0;
  return {
    name: spec.name,
    logFile: logFileOf(spec.name, options),
    command: () => {
      startedAt = Date.now();
      return {
        file: pinnedNode,
        args: [...NODE_FLAGS, ...(spec.nodeFlags ?? []), spec.entry, ...(spec.args ?? [])],
        // Compiled code is kept between starts: importing costs more than a second of CPU otherwise.
        env: {
          NODE_COMPILE_CACHE: join(root, '.cache', 'compile'),
          ...withoutStackVariables(process.env),
          ...spec.env,
        },
      };
    },
    probe: async () =>
      readyUrl === null
        ? Date.now() - startedAt >= RUNS_FOR_MS
        : (await fetch(readyUrl, { signal: AbortSignal.timeout(2_000) })).ok,
    readyWithinMs: spec.readyWithinMs ?? 30_000,
    triesMax: 2,
    stopSignal: 'SIGTERM',
    stopWithinMs: STOP_WITHIN_MS,
  };
}

const logFileOf = (name: string, options: ProcessOptions): string => join(options.logDir, `${name}.log`);

function groupOf(
  specs: readonly ProcessSpec[],
  children: ReadonlyMap<string, SupervisedChild>,
  options: ProcessOptions,
): Processes {
  const child = (name: string): SupervisedChild => {
    const found = children.get(name);
    if (found === undefined)
      throw new Error(`no process is called ${name}; choose one of ${[...children.keys()].join(', ')}`);
    return found;
  };
  return {
    names: specs.map((spec) => spec.name),
    pid: (name) => child(name).pid,
    logFile: (name) => logFileOf(name, options),
    kill: (name, signal) => child(name).kill(signal),
    start: (name) => child(name).start(),
    restart: async (name) => {
      await child(name).stop();
      await child(name).start();
    },
    stop: async () => {
      for (const stage of [...stagesOf(specs)].reverse())
        await Promise.all(stage.map((spec) => child(spec.name).stop()));
    },
  };
}
