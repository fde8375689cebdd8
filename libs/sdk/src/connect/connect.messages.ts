// What a connection may be told, and what it offers.
import type { Json } from '@recourse/kernel';
import type { Kafka } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import type { EdgeOptions } from '../edge/edge.js';
import type { Entries } from '../entries/entries.port.js';
import type { Approvals } from '../guard/approval.port.js';
import type { Budget } from '../guard/budget.port.js';
import type {
  ForwardContext,
  ForwardTool,
  GuardedCall,
  GuardedResult,
  GuardMode,
  GuardOptions,
  RunContext,
} from '../guard/guard.messages.js';
import type { Standing } from '../guard/standing.port.js';
import type { NotificationConsumerOptions } from '../consumer/notification-consumer.js';
import type { Producer } from '../producer/producer.js';
import type { Signals } from '../signals/signals.js';
import type { ClaimStore } from '../stores/claim-store.port.js';
import type { Tool } from '../tool/tool.js';
import type { Undos } from '../undo/undo.js';
import type { Worker, WorkerOptions } from '../worker/worker.messages.js';
import type { RegisteredContract } from './registered.js';
import type { Addresses, Environment } from './whereabouts.js';

/** What a connection is made of beside addresses; each is made from these unless given. */
export interface ConnectedParts {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly clock: Clock;
  /** Intents, outcomes and statements. */
  readonly producer: Producer;
  readonly standing: Standing;
  readonly budget: Budget;
  readonly approvals: Approvals;
  readonly entries: Entries;
  /** Calls that a guard has begun; where it is given, what a worker has taken too: agents and workers of several hosts share one. */
  readonly claims: ClaimStore;
}

/** How to connect. Whatever is left out is looked up. */
export interface ConnectOptions extends Partial<Addresses>, Partial<ConnectedParts> {
  /** Who speaks: the agent, or the worker. */
  readonly name: string;
  /** Data directory of a development stack. Default: RECOURSE_DATA_DIR, else `.recourse/data` here or in a folder above. */
  readonly dataDir?: string;
  readonly issuerUrl?: string;
  /** Name the logs were begun with, for who reads one. Default: RECOURSE_LOG_ID, else what the development stack says. */
  readonly logId?: string;
  /** Bearer token, or who answers it. Default: RECOURSE_TOKEN_FILE, RECOURSE_TOKEN, else the issuer of a development stack. */
  readonly token?: string | (() => Promise<string>);
  /** Default: RECOURSE_TENANT, else what the token names, else `demo` on a development stack. */
  readonly tenant?: string;
  /** Roles that a development issuer is asked for. Default: agent, reporter, requester. */
  readonly roles?: readonly string[];
  /** Where claims and positions are kept across a crash. Default: `.recourse/<name>` here. */
  readonly stateDir?: string;
  /** How much its guards do. Default `enforce`. */
  readonly mode?: GuardMode;
  /** How long `close` waits for guarded calls that were begun, milliseconds. Default 30,000. */
  readonly closeWaitMs?: number;
  /** Default: a warning of the process, which Node prints, and hands to who listens for `warning`. */
  readonly onTrouble?: GuardOptions['onTrouble'];
  /** Default `process.env`. */
  readonly environment?: Environment;
  /** Relative paths are meant from here. Default: the working directory. */
  readonly folder?: string;
  readonly fetch?: EdgeOptions['fetch'];
}

/** Arguments as a guarded call takes them: what JSON would change on its way to the tool (dates, bigints, maps, functions) is `never`. */
export type Travels<Args> = Args extends Json
  ? Args
  : Args extends
        bigint | symbol | Date | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | ((...args: never[]) => unknown)
    ? never
    : Args extends object
      ? { [Name in keyof Args]: Travels<Args[Name]> }
      : Args;

/** A tool with its own types. `execute` throws ToolRejected when it knows there was no effect. */
export interface TypedTool<Args, Value> extends Pick<ForwardTool, 'schema'> {
  execute(args: Args, context: ForwardContext): Value | Promise<Value> | AsyncIterable<Value>;
  /** The provider's handle in a result. Needed where the contract requires one. */
  readonly externalTransactionRef?: (result: Value) => string | null;
  /** As in ForwardTool. */
  readonly capturePriorValue?: (args: Args) => Promise<unknown>;
  readonly rehearse?: (args: Args) => Promise<unknown>;
  readonly stage?: (args: Args, context: ForwardContext) => Promise<string>;
  readonly unstage?: (args: Args, context: ForwardContext) => Promise<void>;
}

/** What a guard of a connection is told; the rest of its options comes from the connection. */
export interface ConnectedGuardOptions<Value = unknown> extends Partial<Omit<GuardOptions, 'contract'>> {
  /** Name of a registered contract. */
  readonly contract: string;
  /** Reads the provider's handle in a result, where the tool is a plain function. */
  readonly externalTransactionRef?: (result: Value) => string | null;
}

/** What is left to say of one call: which run and step it belongs to, what the run is for, and what it relies on. */
export interface ConnectedPlace
  extends
    Pick<RunContext, 'runId' | 'objective'>,
    Partial<Omit<RunContext, 'runId' | 'objective'>>,
    Pick<GuardedCall, 'stepId'>,
    Partial<Omit<GuardedCall, 'run' | 'stepId' | 'args'>> {}

/** A tool under its guard, with the tool's own types. Errors: as `guard`. */
export type ConnectedTool<Args, Value> = (args: Travels<Args>, place: ConnectedPlace) => Promise<GuardedResult<Value>>;

/** What a worker of a connection is told; the rest of its options comes from the connection. */
export interface ConnectedWorkerOptions extends Partial<Omit<WorkerOptions, 'adapter' | 'tools'>> {
  /** First part of the capabilities it answers for. */
  readonly adapter: string;
  /** Tools by capability. */
  readonly capabilities: Readonly<Record<string, Tool>>;
}

/** Where a consumer of rollbacks finds its log: what is left to say is its subscription, its inbox and its handlers. */
export type ConnectedConsumerOptions = Pick<
  NotificationConsumerOptions,
  'kafka' | 'codecs' | 'clock' | 'logId' | 'partitionCount'
>;

/** Recourse, as one process reaches it. Errors of each: ConnectProblem, and those of what it makes. */
export interface Recourse extends Readonly<Omit<ConnectedParts, 'producer'>> {
  readonly name: string;
  readonly tenant: string;
  /** Opened when it is first asked for. Errors: Failure(BROKER_UNAVAILABLE, REGISTRY_UNAVAILABLE, UNKNOWN_SCHEMA). */
  producer(): Promise<Producer>;
  /** Says how agents did, and what their work was worth; opened when it is first asked for. Errors: as producer. */
  signals(): Promise<Signals>;
  /** The newest version of a contract that stands. */
  contract(name: string): Promise<RegisteredContract>;
  /** Options of a guard over a contract, for `guard` and for the adapters of agent kits. */
  guardOptions(contract: string): Promise<GuardOptions>;
  /** Puts a tool under the contract it names. */
  guard<Args, Value>(
    tool:
      ((args: Args, context: ForwardContext) => Value | Promise<Value> | AsyncIterable<Value>) | TypedTool<Args, Value>,
    options: ConnectedGuardOptions<Value>,
  ): Promise<ConnectedTool<Args, Value>>;
  /** Starts a worker; `close` stops it. */
  worker(options: ConnectedWorkerOptions): Promise<Worker>;
  undos(): Undos;
  /** What a consumer of rollbacks needs to know of the log it follows. Errors: ConnectProblem(LOG_UNKNOWN, NOTICES_MISSING); Failure(BROKER_UNAVAILABLE, BROKER_REFUSED). */
  consumerOptions(): Promise<ConnectedConsumerOptions>;
  /**
   * Stops its workers and closes what it opened. A guarded call that begins from now on is refused (CONNECTION_CLOSED); those that were
   * begun are waited for until their outcomes are told, `closeWaitMs` at the most.
   */
  close(): Promise<void>;
}
