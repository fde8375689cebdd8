// Recorded histories: a small log of every service as a version wrote it, and the state it folded to. Whoever comes later folds the same.
//
// Boundary: the fold of the services, and of nothing else: production cores over the octets of files (L2, P10).
//
// Grammar of a folder, which is a dump besides (`recourse audit verify --dump`):
//   <log>-<partition>.jsonl = header LF *(schema LF) *(record LF)
//   states.json             = [{"log", "partition", "edition", "seq", "hash", "rows", "state_hash"}]     ; hashes in hex
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { budgetsCore } from '@recourse/budget-accountant';
import { schemaIdOf } from '@recourse/chain';
import { registryCore } from '@recourse/contract-registry';
import { OwnLog, replayPartition } from '@recourse/event-log';
import type { ServiceCore } from '@recourse/event-log';
import { MemoryBroker } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { assumptionsCore, mutationsCore } from '@recourse/mutation-ledger';
import { recoveriesCore } from '@recourse/recovery-orchestrator';
import { LOG_ID, SERVICES } from './world.js';
import type { World } from './world.js';

const ENDING = '.jsonl';
const STATES = 'states.json';
/** Far more than some schemas need. */
const STEPS_MAX = 100_000;

/** What deciding would need. The fold reads records alone (L2), so any policy folds to the same state. */
const UNUSED_POLICY = {
  leaseKey: Buffer.alloc(32),
  leaseMs: 0,
  reviewDeadlineMs: 0,
  backoff: { baseMs: 0, maxMs: 0 },
  ownerOf: () => null,
};
const CORES: ReadonlyMap<string, ServiceCore> = new Map(
  [registryCore(), assumptionsCore(), mutationsCore(), budgetsCore(), recoveriesCore(UNUSED_POLICY)].map((core) => [
    core.log,
    core,
  ]),
);

/** What a partition folds to. */
export interface FoldedState {
  readonly log: string;
  readonly partition: number;
  /** Of the rows of its core. */
  readonly edition: number;
  readonly seq: number;
  readonly hash: string;
  readonly rows: number;
  readonly state_hash: string;
}

interface Header {
  readonly log_id: string;
  readonly topic: string;
  readonly partition: number;
  readonly partition_count: number;
}

/** A line of a file. */
type Line =
  | { readonly log: Header }
  | { readonly schema: { readonly id: number; readonly text: string } }
  | { readonly record: { readonly offset: number; readonly key: string | null; readonly value: string | null } };

/** Writes the logs of a world down, with the states they fold to. What the folder held is replaced. */
export async function writeHistory(world: World, folder: string): Promise<readonly FoldedState[]> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { log } of SERVICES.flatMap((service) => world.cores[service])) {
    const partitions = partitionsOf(world, log);
    for (const [partition, records] of partitions.entries()) {
      const of: Header = { log_id: LOG_ID, topic: log, partition, partition_count: partitions.length };
      const schemas = await schemasOf(world, new Set(records.flatMap(({ value }) => schemaIdOf(value) ?? [])));
      const lines: readonly Line[] = [
        { log: of },
        ...schemas,
        ...records.map(({ offset, key, value }) => ({
          record: { offset, key: key?.toString('base64') ?? null, value: value?.toString('base64') ?? null },
        })),
      ];
      writeFileSync(
        join(folder, `${log}-${String(partition)}${ENDING}`),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      );
    }
  }
  return writeStates(folder, await foldHistory(folder));
}

/** Writes the states down that the logs of a folder fold to now. Errors: one that names the logs whose services keep other rows under the edition they had. */
export async function foldAnew(folder: string): Promise<readonly FoldedState[]> {
  const states = await foldHistory(folder);
  const logs = foldedOtherwise(statesIn(folder), states);
  if (logs.length > 0)
    throw new Error(
      `${logs.join(', ')}: records leave other rows than before, and databases keep those they have. Raise the edition of the core.`,
    );
  return writeStates(folder, states);
}

/** Logs whose records leave other rows under the same edition. */
export function foldedOtherwise(before: readonly FoldedState[], after: readonly FoldedState[]): readonly string[] {
  const other = after.filter(({ log, partition, edition, state_hash }) =>
    before.some(
      (one) =>
        one.log === log && one.partition === partition && one.edition === edition && one.state_hash !== state_hash,
    ),
  );
  return [...new Set(other.map(({ log }) => log))];
}

function writeStates(folder: string, states: readonly FoldedState[]): readonly FoldedState[] {
  writeFileSync(join(folder, STATES), `${JSON.stringify(states, null, 2)}\n`);
  return states;
}

/** Asks the registry of a world, whose answers come while its time goes on. */
async function schemasOf(
  world: World,
  ids: ReadonlySet<number>,
): Promise<readonly Extract<Line, { schema: object }>[]> {
  const registry = world.registry.forActor('history');
  const texts = new Map<number, string>();
  for (const id of ids) void registry.schemaById(id).then((text) => texts.set(id, text));
  await world.scheduler.run(() => texts.size === ids.size, STEPS_MAX);
  return [...texts].sort(([a], [b]) => a - b).map(([id, text]) => ({ schema: { id, text } }));
}

function partitionsOf(world: World, log: string): readonly ReturnType<PartitionOf['all']>[] {
  const found: ReturnType<PartitionOf['all']>[] = [];
  for (let at = world.broker.find(log, found.length); at !== null; at = world.broker.find(log, found.length))
    found.push(at.all());
  return found;
}
type PartitionOf = NonNullable<ReturnType<MemoryBroker['find']>>;

/** The states that a folder says its logs fold to. */
export function statesIn(folder: string): readonly FoldedState[] {
  return JSON.parse(readFileSync(join(folder, STATES), 'utf8')) as readonly FoldedState[]; // written by writeHistory
}

/** Folds each log of a folder with the services of now. Errors: those of a replay; InvariantViolation of the fold. */
export async function foldHistory(folder: string): Promise<readonly FoldedState[]> {
  const states: FoldedState[] = [];
  for (const lines of logsIn(folder)) states.push(await onLog(lines, (core, log) => folded(core, log, null)));
  return states;
}

/** The types of the records of a partition, from its first record on. Errors: those of reading a log. */
export async function typesIn(folder: string, log: string, partition: number): Promise<readonly string[]> {
  const types: string[] = [];
  await onLog(logIn(folder, log, partition), async (_core, own) => {
    for await (const records of own.read(own.origin())) types.push(...records.map(({ type }) => type));
  });
  return types;
}

/** What a partition had folded to behind a record. Errors: as above. */
export function foldUntil(folder: string, log: string, partition: number, seq: number): Promise<FoldedState> {
  return onLog(logIn(folder, log, partition), (core, own) => folded(core, own, seq));
}

function logsIn(folder: string): readonly (readonly Line[])[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(ENDING));
  return files.sort().map((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Line); // written by writeHistory
  });
}

function logIn(folder: string, log: string, partition: number): readonly Line[] {
  const isAsked = (line: Line): boolean => 'log' in line && line.log.topic === log && line.log.partition === partition;
  return logsIn(folder).find((lines) => lines.some(isAsked)) ?? [];
}

async function folded(core: ServiceCore, log: OwnLog, untilSeq: number | null): Promise<FoldedState> {
  const { topic, partition } = log.options;
  const { seq, hash, rows, stateHash } = await replayPartition({ core, log, untilSeq });
  const { edition = 1 } = core;
  return { log: topic, partition, edition, seq, hash: hash.toString('hex'), rows, state_hash: stateHash };
}

async function onLog<T>(lines: readonly Line[], work: (core: ServiceCore, log: OwnLog) => Promise<T>): Promise<T> {
  const of = lines.flatMap((line) => ('log' in line ? line.log : []))[0];
  const core = CORES.get(of?.topic ?? '');
  if (of === undefined || core === undefined) throw new Error(`a history of ${of?.topic ?? 'no log'} has no service`);
  const texts = new Map(lines.flatMap((line) => ('schema' in line ? [[line.schema.id, line.schema.text]] : [])));
  const unknown = (what: string): Promise<never> => Promise.reject(new Failure('UNKNOWN_SCHEMA', what));
  const codecs = createCodecs({
    schemaById: (id) => {
      const text = texts.get(id);
      return text === undefined ? unknown(`schema ${String(id)} is not in the history`) : Promise.resolve(text);
    },
    idOf: (subject) => unknown(`${subject} is not written here`),
  });
  const { topic, partition, partition_count: partitionCount, log_id: logId } = of;
  const kafka = await brokerWith(of, lines);
  const log = new OwnLog({ kafka, codecs, topic, partition, partitionCount, logId });
  try {
    return await work(core, log);
  } finally {
    await log.close();
  }
}

/** A broker with the records in their places: a history begins at offset 0 and leaves none out. */
async function brokerWith({ topic, partition, partition_count }: Header, lines: readonly Line[]): Promise<Kafka> {
  const broker = new MemoryBroker();
  broker.ensureTopics([{ name: topic, partitions: partition_count }]);
  const kafka = broker.forActor('history');
  const octets = (text: string | null): Buffer => Buffer.from(text ?? '', 'base64');
  const records = lines.flatMap((line) =>
    'record' in line ? [{ key: octets(line.record.key), value: octets(line.record.value) }] : [],
  );
  const producer = await kafka.logProducer();
  if (records.length > 0) await producer.send(topic, partition, records);
  await producer.close();
  return kafka;
}
