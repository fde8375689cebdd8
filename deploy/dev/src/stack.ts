// The development stack: Kafka, schema registry and PostgreSQL on this machine, without containers.
//
// Boundary: owns the data directory, its lock and its state file, the servers and their lives. What runs on top
// (topics, databases, services) is provision.ts and processes.ts.
//
// Invariants
//   I1. One live launcher per data directory.
//   I2. Data is marked complete (stack-data.ts) once all have answered.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { takeLock } from '../../../scripts/lib/lock.mjs';
import type { SupervisedChild } from './child.js';
import type { StackPorts } from './ports.js';
import type { PostgresAddress } from './postgres-server.js';
import { closeData } from './private-data.js';
import { layoutOf, markComplete, refuseForeign, wipeData, type Layout } from './stack-data.js';
import { prepare } from './stack-servers.js';
import type { PartName, ServerOptions, Servers, StackFacts } from './stack-servers.js';
import { killLeftovers, readState, StateBook } from './state-file.js';

export type { PartName, StackFacts } from './stack-servers.js';

export interface StackOptions extends ServerOptions {
  readonly dataDir: string;
  readonly onProgress?: (line: string) => void;
  /** Wipe the data of an earlier run first. */
  readonly reset?: boolean;
  /** SIGINT, SIGTERM and SIGHUP stop the stack and end the process. Default true; a launcher with an order of its own says false. */
  readonly handleSignals?: boolean;
}

export interface DevStack extends StackFacts {
  readonly dataDir: string;
  readonly logDir: string;
  readonly ports: StackPorts;
  readonly pids: Readonly<Record<'kafka' | 'registry' | 'postgres', number | null>>;
  /** The state file, for those who start more children on top. */
  readonly book: StateBook;
  /** From the call of startStack until all answered. */
  readonly readyMs: number;
  /** Sends a signal to one server and everything it started; SIGKILL resolves when it is gone. */
  kill(part: PartName, signal: NodeJS.Signals): Promise<void>;
  /** Tells one server to stop; resolves when it is gone. */
  halt(part: PartName): Promise<void>;
  /** Stops the server if it runs and starts it again, on the same port and data; resolves when it answers. */
  restart(part: PartName): Promise<void>;
  /** Starts a server that was killed; resolves when it answers. */
  start(part: PartName): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts all servers in parallel and resolves when each of them answered a real request.
 *
 * Errors: DataDirectoryBusy when a live launcher holds the directory; else the failing server's reason and log lines.
 */
export async function startStack(options: StackOptions): Promise<DevStack> {
  const startedAt = performance.now();
  const say = options.onProgress ?? (() => undefined);
  const layout = layoutOf(resolve(options.dataDir));
  refuseForeign(layout);
  const release = takeLock(layout.dataDir);
  try {
    await killLeftovers(layout.dataDir, say);
    if (options.reset === true) wipeData(layout);
    closeData(layout, process.getuid?.() === 0);
    const book = new StateBook(layout.dataDir, readState(layout.dataDir));
    const servers = await prepare(layout, options, book, say);
    const stack = new Running(servers, layout, book, release, startedAt);
    if (options.handleSignals !== false) stopOnSignals(stack);
    await stack.startAll(say);
    return stack;
  } catch (cause) {
    release();
    throw cause;
  }
}

/** Deletes the data of Kafka, registry and PostgreSQL together. Errors: DataDirectoryBusy. */
export function wipe(dataDir: string): Promise<void> {
  return alone(dataDir, wipeData);
}

/** Removes the whole folder. Errors: DataDirectoryBusy. */
export function removeStack(dataDir: string): Promise<void> {
  return alone(dataDir, (layout) => {
    wipeData(layout);
    // A process that was just ended may still write.
    rmSync(layout.dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
}

/** Does something to the data while nobody else holds it and nothing runs on it. Errors: DataDirectoryBusy. */
async function alone(dataDir: string, act: (layout: Layout) => void): Promise<void> {
  const layout = layoutOf(resolve(dataDir));
  refuseForeign(layout);
  const release = takeLock(layout.dataDir);
  try {
    await killLeftovers(layout.dataDir, () => undefined);
    act(layout);
  } finally {
    release();
  }
}

class Running implements DevStack {
  #stopping: Promise<void> | null = null;
  #readyMs = 0;

  constructor(
    private readonly servers: Servers,
    private readonly layout: Layout,
    readonly book: StateBook,
    private readonly release: () => void,
    private readonly startedAt: number,
  ) {}

  get kafka(): StackFacts['kafka'] {
    return this.servers.facts.kafka;
  }
  get registryUrl(): string {
    return this.servers.facts.registryUrl;
  }
  get postgres(): PostgresAddress {
    return this.servers.facts.postgres;
  }
  get begunWith(): readonly string[] {
    return this.servers.facts.begunWith ?? [];
  }
  get owner(): StackFacts['owner'] {
    return this.servers.facts.owner;
  }
  get ports(): StackPorts {
    return this.servers.ports;
  }
  get dataDir(): string {
    return this.layout.dataDir;
  }
  get logDir(): string {
    return this.layout.logDir;
  }
  get readyMs(): number {
    return this.#readyMs;
  }

  get pids(): DevStack['pids'] {
    const pidOf = (part: PartName): number | null => this.childOf(part).pid;
    return { kafka: pidOf('kafka'), registry: pidOf('registry'), postgres: pidOf('postgres') };
  }

  /** Not by `#`: the stack of a test has this one as its prototype. */
  private childOf(part: PartName): SupervisedChild {
    const server = this.servers.parts.get(part);
    if (server === undefined) throw new Error(`this stack has no ${part}`);
    return server.child;
  }

  async startAll(say: (line: string) => void): Promise<void> {
    let firstFailure: { readonly cause: unknown } | null = null;
    await Promise.all(
      [...this.servers.parts].map(async ([part, { create, child }]) => {
        try {
          await create();
          await child.start();
          say(`${part} answers (${((performance.now() - this.startedAt) / 1000).toFixed(1)} s)`);
        } catch (cause) {
          // The others are stopped before they are ready and fail too: the first failure is the reason.
          firstFailure ??= { cause };
          await this.#stopChildren();
        }
      }),
    );
    await this.#refuse(firstFailure);
    markComplete(this.layout, this.kafka.clusterId, this.owner !== null);
    this.#readyMs = performance.now() - this.startedAt;
  }

  async #refuse(failure: { readonly cause: unknown } | null): Promise<void> {
    if (failure === null) return;
    await this.stop();
    throw failure.cause;
  }

  kill(part: PartName, signal: NodeJS.Signals): Promise<void> {
    return this.childOf(part).kill(signal);
  }

  halt(part: PartName): Promise<void> {
    return this.childOf(part).stop();
  }

  async restart(part: PartName): Promise<void> {
    await this.halt(part);
    await this.start(part);
  }

  start(part: PartName): Promise<void> {
    return this.childOf(part).start();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopChildren().then(() => {
      this.book.close();
      this.release();
    });
    return this.#stopping;
  }

  async #stopChildren(): Promise<void> {
    await Promise.all([...this.servers.parts.values()].map(({ child }) => child.stop()));
  }
}

function stopOnSignals(stack: DevStack): void {
  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // The exit handler kills what a stop could not end, and everything when somebody is in a hurry.
      const end = (): never => process.exit(signal === 'SIGINT' ? 130 : 143);
      if (isStopping) end();
      isStopping = true;
      void stack.stop().finally(end);
    });
  }
}
