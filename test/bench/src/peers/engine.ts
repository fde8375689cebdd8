// What the bench asks of an engine.
import type { DevStack } from '@recourse/dev-stack';
import type { BenchStack } from '../bench-stack.js';
import type { Traffic } from '../traffic.js';
import type { Helper } from '../worker-process.js';
import type { Loaded } from './closed-loop.js';
import type { Cell } from './drive.js';
import type { Variant } from './work.js';

/** Servers of this machine, fresh for each start of an engine; of Kafka and registry only what the engine wants is running. */
export interface Ground {
  readonly bench: BenchStack;
  readonly stack: DevStack;
  readonly toolPort: number;
  /** Services write CPU profiles into this folder as they end; null: none. */
  readonly profiles: string | null;
}

export interface RunningEngine {
  readonly driver: Helper<Cell, Loaded>;
  /** Where the tool of a variant says what it saw. */
  readonly gatePorts: Readonly<Record<Variant, number>>;
  /** Processes whose CPU is the price of the engine: servers, services and the worker; driver and tool are apart. */
  readonly pids: Readonly<Record<string, number | null>>;
  /** Makes so many runs ready for a `recover` cell and waits until everything is at rest. */
  readonly prepare?: (cell: Cell, runs: number) => Promise<void>;
  readonly traffic?: Traffic;
}

export interface Engine {
  readonly name: string;
  /** Kafka and registry run beside PostgreSQL. */
  readonly needsKafka: boolean;
  /** Settings of the broker beside those of the stack. */
  readonly kafkaSettings?: Readonly<Record<string, string>>;
  /** Lines for people: versions, durability. */
  settings(): string;
  /** Why it cannot run here; null when it can. */
  missing(): string | null;
  /** Starts it, does the work, and takes it away. */
  with<T>(ground: Ground, work: (running: RunningEngine) => Promise<T>): Promise<T>;
}
