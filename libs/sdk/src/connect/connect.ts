// Recourse in one call: finds where everything is, gets a token, and makes what a guard, a worker and an undo need.
//
// Boundary: composes. What each part does is its own; a part that is given is used as it is.
import { join, resolve } from 'node:path';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { edgeClient } from '../edge/edge.js';
import { cachedEntries } from '../entries/entries.cached.js';
import { HttpEntries } from '../entries/entries.http.js';
import { HttpApprovals } from '../guard/approval.http.js';
import { HttpBudget } from '../guard/budget.http.js';
import { refuseUnusable } from '../guard/given.js';
import { guard } from '../guard/guard.js';
import type { GuardOptions, GuardTrouble } from '../guard/guard.messages.js';
import { trouble } from '../guard/objections.js';
import { HttpStanding } from '../guard/standing.http.js';
import { CallsUnderWay } from '../guard/under-way.js';
import { createSignals } from '../signals/signals.js';
import type { Signals } from '../signals/signals.js';
import { createProducer } from '../producer/producer.js';
import type { Producer } from '../producer/producer.js';
import { FileClaimStore } from '../stores/claim-store.file.js';
import { FilePositionStore } from '../stores/position-store.file.js';
import { undos } from '../undo/undo.js';
import { createWorker } from '../worker/worker.js';
import type { Worker, WorkerNote } from '../worker/worker.messages.js';
import { noteUnknown, refuseUnknown } from './adapters.js';
import { ConnectProblem } from './connect.problem.js';
import type {
  ConnectedGuardOptions,
  ConnectedParts,
  ConnectedTool,
  ConnectedWorkerOptions,
  ConnectOptions,
  Recourse,
} from './connect.messages.js';
import { consumerOptionsOf } from './consuming.js';
import { edgesWith } from './edges.js';
import type { Edges } from './edges.js';
import { greetRegistry, registeredContract } from './registered.js';
import { kafkaAccessFor, signingFor } from './kafka-access.js';
import { withAddress } from './plainly.js';
import { refuseNoContract, refuseUnusableOptions, refuseUnusableWorker, said } from './given.js';
import { findStack } from './stack-file.js';
import { tenantIn, tokenSource } from './token.js';
import { callAt, forwardTool } from './typed-tool.js';
import type { ToolLike } from './typed-tool.js';
import { valueIn, whereaboutsOf } from './whereabouts.js';
import type { Whereabouts } from './whereabouts.js';

/** What a program asks a development issuer for: it acts, says what went wrong, and asks for undos. */
const ROLES = ['agent', 'reporter', 'requester'] as const;
/** Tenant of the stories of a development stack. */
const DEVELOPMENT_TENANT = 'demo';
/** Longest a worker's call may take unless told, milliseconds: the most that a contract can say, so that each step's own decides. */
const CALL_TIMEOUT_MS = 3_600_000;

/**
 * Connects one process.
 *
 * Shape:  what the options say comes first, then the environment, then the development stack that is found. The contract
 *         registry is asked once, so that what is lacking shows here; Kafka is opened when it is first needed.
 * Errors: ConnectProblem, whose code says what is lacking and whose remedy what to do.
 */
export async function connect(options: ConnectOptions): Promise<Recourse> {
  refuseUnusableOptions(options);
  const { environment = process.env, folder = process.cwd(), clock = systemClock } = options;
  const stack = findStack(options.dataDir ?? valueIn(environment, 'RECOURSE_DATA_DIR'), folder);
  const places = whereaboutsOf(options, environment, stack);
  const wanted = options.tenant ?? valueIn(environment, 'RECOURSE_TENANT');
  const token = tokenSource({
    ...options,
    environment,
    folder,
    clock,
    issuerUrl: places.issuerUrl,
    subject: options.name,
    tenant: wanted ?? DEVELOPMENT_TENANT,
    roles: options.roles ?? ROLES,
  });
  const edge = edgesWith(token, options);
  await greetRegistry(edgeClient({ ...edge(places.contractsUrl), name: 'the contract registry' }));
  const tenant = wanted ?? tenantIn(await token());
  if (tenant === null) throw new ConnectProblem('TENANT_UNKNOWN', 'neither anybody nor the token names a tenant');
  const stateDir = resolve(folder, options.stateDir ?? join('.recourse', options.name));
  // Who brings a cluster of their own says themselves how it is signed, and as whom it is asked.
  const kafkaOf = (...users: readonly string[]): Kafka =>
    options.kafka ??
    createKafka({
      brokers: places.brokers,
      clientId: options.name,
      signing: signingFor([options.name, ...users], environment, { stack, clock }),
      ...kafkaAccessFor([options.name, ...users], environment, stack),
    });
  return new Connection({ places, edge, tenant, stateDir, options, kafkaOf });
}

interface Reached {
  readonly places: Whereabouts;
  readonly edge: Edges;
  readonly tenant: string;
  readonly stateDir: string;
  readonly options: ConnectOptions;
  /** A client as one of these users, where Kafka asks; the name of the connection comes first. */
  readonly kafkaOf: (...users: readonly string[]) => Kafka;
}

/** What a guard has to say where nobody asked to hear it: nothing is lost in silence. */
function warned({ code, problems }: GuardTrouble): void {
  process.emitWarning(problems.map(({ message }) => message).join('; '), { type: 'RecourseWarning', code });
}

class Connection implements Recourse {
  readonly name: string;
  readonly tenant: string;
  readonly kafka: ConnectedParts['kafka'];
  readonly codecs: ConnectedParts['codecs'];
  readonly clock: ConnectedParts['clock'];
  readonly standing: ConnectedParts['standing'];
  readonly budget: ConnectedParts['budget'];
  readonly approvals: ConnectedParts['approvals'];
  readonly entries: ConnectedParts['entries'];
  readonly claims: ConnectedParts['claims'];
  private readonly workers: Worker[] = [];
  private readonly calls = new CallsUnderWay();
  private opening: Promise<Producer> | null = null;
  private openingSignals: Promise<Signals> | null = null;
  private isClosed = false;

  constructor(private readonly reached: Reached) {
    const { places, edge, tenant, stateDir, options, kafkaOf } = reached;
    this.name = options.name;
    this.tenant = tenant;
    this.clock = options.clock ?? systemClock;
    this.kafka = kafkaOf();
    this.codecs = options.codecs ?? createCodecs(createSchemaRegistry({ url: places.registryUrl }));
    this.standing = options.standing ?? new HttpStanding(edge(places.ledgerUrl));
    this.budget = options.budget ?? new HttpBudget(edge(places.budgetUrl));
    this.approvals = options.approvals ?? new HttpApprovals(edge(places.recoveriesUrl));
    this.entries = options.entries ?? cachedEntries(new HttpEntries(edge(places.contractsUrl)), { clock: this.clock });
    this.claims = options.claims ?? new FileClaimStore(join(stateDir, 'claims'));
  }

  producer(): Promise<Producer> {
    this.refuseClosed();
    const { producer } = this.reached.options;
    if (producer !== undefined) return Promise.resolve(producer);
    const opening = (this.opening ??= this.reaching(
      createProducer({ kafka: this.kafka, codecs: this.codecs, source: this.name }),
    ));
    // One that failed is no reason why the next should.
    opening.catch(() => {
      this.opening = null;
    });
    return opening;
  }

  signals(): Promise<Signals> {
    this.refuseClosed();
    const opening = (this.openingSignals ??= this.reaching(
      createSignals({ kafka: this.kafka, codecs: this.codecs, source: this.name }),
    ));
    opening.catch(() => {
      this.openingSignals = null;
    });
    return opening;
  }

  async contract(name: string): ReturnType<Recourse['contract']> {
    refuseNoContract(name);
    const { edge, places } = this.reached;
    return registeredContract(
      edgeClient({ ...edge(places.contractsUrl), name: 'the contract registry' }),
      this.tenant,
      name,
    );
  }

  async guardOptions(contract: string): Promise<GuardOptions> {
    const { mode = 'enforce', onTrouble = warned } = this.reached.options;
    return {
      ...(await this.contract(contract)),
      mode,
      producer: await this.producer(),
      clock: this.clock,
      entries: this.entries,
      budget: this.budget,
      approvals: this.approvals,
      standing: this.standing,
      claims: this.claims,
      calls: this.calls,
      onTrouble,
    };
  }

  async guard<Args, Value>(
    tool: ToolLike<Args, Value>,
    given: ConnectedGuardOptions<Value>,
  ): Promise<ConnectedTool<Args, Value>> {
    // Callers without types leave it out.
    const { contract, externalTransactionRef, ...overrides } = { ...given };
    const options = { ...(await this.guardOptions(contract)), ...said(overrides) };
    refuseUnusable(tool, options);
    await noteUnknown(this.kafka, options);
    const guarded = guard(forwardTool(tool, externalTransactionRef), options);
    // What the tool itself gave, less some members: what its type says.
    return async (args, place) =>
      (await guarded(callAt(args, place, this))) as Awaited<ReturnType<ConnectedTool<Args, Value>>>;
  }

  async worker(given: ConnectedWorkerOptions): Promise<Worker> {
    this.refuseClosed();
    refuseUnusableWorker(given);
    const { adapter, capabilities, isObserver = false, onNote, ...overrides } = given;
    const kafka = this.reached.kafkaOf(`${adapter}-worker`);
    await this.reaching(refuseUnknown(kafka, adapter));
    const folder = join(this.reached.stateDir, isObserver ? `${adapter}-observer` : adapter);
    const worker = createWorker({
      kafka,
      codecs: this.codecs,
      adapter,
      tools: capabilities,
      clock: this.clock,
      entries: this.entries,
      claimStore: this.reached.options.claims ?? new FileClaimStore(join(folder, 'claims')),
      positions: new FilePositionStore(join(folder, 'positions')),
      workerId: this.name,
      groupId: `${adapter}-${isObserver ? 'observers' : 'workers'}`,
      isObserver,
      callTimeoutMs: CALL_TIMEOUT_MS,
      ...said(overrides),
      ...(onNote === undefined ? {} : { onNote: this.telling(onNote) }),
    });
    await this.reaching(worker.start());
    // Closed meanwhile: nobody would stop it.
    if (this.isClosed) await worker.stop();
    this.refuseClosed();
    this.workers.push(worker);
    return worker;
  }

  undos(): ReturnType<Recourse['undos']> {
    const { edge, places } = this.reached;
    return undos({ ledger: edge(places.ledgerUrl) });
  }

  async consumerOptions(): ReturnType<Recourse['consumerOptions']> {
    this.refuseClosed();
    return this.reaching(consumerOptionsOf(this, this.reached.places.logId));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.callsEnded(), ...this.workers.splice(0).map((worker) => worker.stop())]);
    const [producer, signals] = [await this.opening?.catch(() => null), await this.openingSignals?.catch(() => null)];
    [this.opening, this.openingSignals] = [null, null];
    await producer?.close();
    await signals?.close();
  }

  /** The outcome of a call that was begun is told before the wire is closed. */
  private async callsEnded(): Promise<void> {
    const { closeWaitMs, onTrouble = warned } = this.reached.options;
    const left = await this.calls.close(this.clock, closeWaitMs);
    if (left > 0)
      onTrouble(trouble('CONNECTION_CLOSED', `${String(left)} guarded calls did not end: their outcomes are not told`));
  }

  /** What cannot be reached is named with its address; a cluster that was given is not known by one. */
  private async reaching<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      throw this.placed(thrown);
    }
  }

  private telling(onNote: (note: WorkerNote) => void): (note: WorkerNote) => void {
    return (note) => {
      onNote(note.type === 'trouble' ? { ...note, cause: this.placed(note.cause) } : note);
    };
  }

  private placed(thrown: unknown): unknown {
    const { options, places } = this.reached;
    return options.kafka === undefined ? withAddress(thrown, places) : thrown;
  }

  private refuseClosed(): void {
    if (this.isClosed) throw new ConnectProblem('CONNECTION_CLOSED', `the connection of ${this.name} is closed`);
  }
}
