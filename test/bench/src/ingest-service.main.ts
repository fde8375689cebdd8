// The ledger's loop as the service runs it, without its HTTP edge, until a number of executions is projected.
import { createServiceRuntime, withCommonKinds } from '@recourse/event-log';
import type { LoopSettings, PartitionStore, ServiceCore, StoreFactory } from '@recourse/event-log';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { assumptionsCore, mutationsCore } from '@recourse/mutation-ledger';
import { PostgresDatabase } from '@recourse/service';
import { countStatements } from './statement-count.js';
import { answer, sharedClockMs, task } from './worker-process.js';

export interface IngestTask {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly logId: string;
  readonly executions: number;
  readonly settings?: Partial<LoopSettings>;
}

export interface IngestAnswer {
  /** From the moment the inputs were positioned, so the first fetch could leave, to the answer of the last commit. */
  readonly ms: number;
  readonly recorded: number;
  readonly records: number;
  readonly appends: number;
  readonly appendsUnknown: number;
  readonly parked: number;
  readonly projections: number;
  readonly statements: number;
  readonly cpuMs: number;
}

/** One connection per partition writes; the others answer what is loaded and which time it is. */
const CONNECTIONS_MAX = 4;
const LOG = 'recourse.mutations';

const { brokers, registryUrl, databaseUrl, logId, executions, settings } = task<IngestTask>();
const statements = countStatements();
const cores: readonly ServiceCore[] = [assumptionsCore(), mutationsCore()];
const database = await PostgresDatabase.open({ url: databaseUrl, connectionsMax: CONNECTIONS_MAX }, cores.flatMap(({ log, kinds, derived }) => [
  { log, kinds: withCommonKinds(kinds) }, ...(derived ? [{ log: derived.topic, kinds: [] }] : []),
]));
const seen = { startedAt: 0, recorded: 0, records: 0, appends: 0, appendsUnknown: 0, parked: 0, projections: 0, statementsBefore: 0, cpuBefore: process.cpuUsage() };
const accepted = new Map<number, number>();
const projectedTo = new Map<number, number>();

const stores: StoreFactory = { partition: (log, partition) => watched(log, partition, database.partition(log, partition)) };
const runtime = createServiceRuntime({
  cores, kafka: createKafka({ brokers, clientId: 'ledger' }), registry: createSchemaRegistry({ url: registryUrl }), stores, logId, groupId: `ingest-${logId}`, edgeKey: null,
  ...(settings === undefined ? {} : { settings }),
  onEvent: (event) => {
    if (event.kind === 'error' || event.kind === 'halted') process.stderr.write(`${event.kind}: ${String(event.cause)}\n`);
    if (event.log !== LOG) return;
    if (event.kind === 'recovered' && seen.startedAt === 0) begin();
    if (event.kind === 'appended') { seen.appends += 1; seen.records += event.records; }
    if (event.kind === 'append_unknown') seen.appendsUnknown += 1;
    if (event.kind === 'parked') seen.parked += 1;
    if (event.kind === 'accepted' && event.record.type === 'MutationRecorded') { seen.recorded += 1; accepted.set(event.partition, event.record.seq); }
  },
});
await runtime.start();

function begin(): void {
  seen.startedAt = sharedClockMs();
  seen.statementsBefore = statements.total;
  seen.cpuBefore = process.cpuUsage();
}

function watched(log: string, partition: number, store: PartitionStore): PartitionStore {
  if (log !== LOG) return store;
  return {
    head: () => store.head(), load: (groups) => store.load(groups), all: (kind) => store.all(kind), due: (until, limit) => store.due(until, limit),
    stateHash: () => store.stateHash(), drop: () => store.drop(),
    project: async (from, to, changes) => {
      const result = await store.project(from, to, changes);
      seen.projections += 1;
      if (result === 'projected') projectedTo.set(partition, to.seq);
      if (seen.recorded + seen.parked >= executions && [...accepted].every(([at, seq]) => (projectedTo.get(at) ?? 0) >= seq)) void finish(sharedClockMs());
      return result;
    },
  };
}

let isFinished = false;
async function finish(at: number): Promise<void> {
  if (isFinished) return;
  isFinished = true;
  const { user, system } = process.cpuUsage(seen.cpuBefore);
  const result: IngestAnswer = {
    ms: at - seen.startedAt, recorded: seen.recorded, records: seen.records, appends: seen.appends, appendsUnknown: seen.appendsUnknown, parked: seen.parked,
    projections: seen.projections, statements: statements.total - seen.statementsBefore, cpuMs: (user + system) / 1_000,
  };
  await runtime.stop();
  await database.close();
  answer(result);
}
