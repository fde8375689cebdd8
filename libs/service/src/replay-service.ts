// The process behind `recourse replay`: one request on standard input, JSON lines on standard output.
//
// Boundary: reads the service's logs and, when asked to compare, one snapshot of its database. Neither topics, tables nor
// schemas are made or changed; no group is joined, nothing is sent. An entry of its own (`@recourse/service/replay`): a command
// that a person waits for loads no web server.
import { OwnLog, replayPartition, withCommonKinds } from '@recourse/event-log';
import type { KeyStore, OwnLogOptions, ReplayBounds, Replayed, ServiceCore } from '@recourse/event-log';
import { accessOf, createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { Failure, sha256Hex } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { z } from 'zod';
import { PostgresKeyStore } from './outbound/postgres-key-store.js';
import { openProjectedStates } from './outbound/postgres-state.js';
import type { ProjectedStates, StrayColumn } from './outbound/postgres-state.js';
import { PartitionCounts } from './partition-counts.js';
import { checkLines, checkShape } from './pins/check-service.js';
import { pinLines, pinShape } from './pins/pin-service.js';
import type { Remaking } from './pins/remaking.js';
import { keysTold, signingTold } from './replay-keys.js';
import { judgeReplay } from './replay.decisions.js';
import type { ReplayVerdict, StateAt } from './replay.decisions.js';

const cluster = {
  brokers: z.array(z.string()).min(1),
  /** As whom Kafka is asked, and who signs its brokers; null: nobody in particular, in clear text. */
  kafka_user: z.strictObject({
    user: z.string().nullable(),
    password: z.string().nullable(),
    ca: z.string().nullable(),
  }),
  keys: keysTold,
  registry_url: z.string(),
  log_id: z.string(),
};

const request = z.strictObject({
  ...cluster,
  log: z.string(),
  /** null: all. */
  partition: z.int().min(0).nullable(),
  until_seq: z.int().min(0).nullable(),
  as_of: z.int().nullable(),
  /** The projection to compare with; null compares with none. */
  database_url: z.string().nullable(),
});
export type ReplayRequest = z.infer<typeof request>;
type ClusterRequest = z.infer<z.ZodObject<typeof cluster>>;
const pinRequest = z.strictObject({ ...cluster, ...pinShape });

/** What a line of standard output holds. Hashes are in hex, instants in epoch milliseconds. */
export type ReplayLine =
  | { readonly type: 'progress'; readonly partition: number; readonly offset: number; readonly end: number }
  | {
      readonly type: 'partition';
      readonly log: string;
      readonly partition: number;
      readonly seq: number;
      readonly hash: string;
      readonly decided_at: number | null;
      readonly rows: number;
      readonly voids: number;
      readonly state_hash: string;
      readonly ended_by: 'log' | 'bound';
      readonly projected: {
        readonly seq: number;
        readonly state_hash: string;
        readonly verdict: ReplayVerdict;
        /** The first that do not hold what their rows say. */
        readonly columns: readonly StrayColumn[];
      } | null;
    }
  | { readonly type: 'problem'; readonly code: string; readonly message: string };

/** A question that no log can answer. */
class Unanswerable extends Error {
  constructor(
    readonly code: 'PARTITION_UNKNOWN',
    message: string,
  ) {
    super(message);
  }
}

/** A registry that was just started answers its first requests slowly. */
const REGISTRY_TIMEOUT_MS = 20_000;
const PROGRESS_EVERY_MS = 100;

export { packed, unpacked } from './pins/pin-json.js';
export { bundleInstead, remaking } from './pins/remaking.js';

/** Answers one request about the logs of a service; exit code 0 unless a problem was the last line. */
export async function replayService(
  coresOf: (partitionCount: number) => readonly ServiceCore[],
  remakingOf?: () => Promise<Remaking>,
): Promise<void> {
  try {
    const asked: unknown = JSON.parse(await textOf(process.stdin));
    const isRemade = typeof asked === 'object' && asked !== null && 'do' in asked;
    if (isRemade && remakingOf !== undefined) await remake(asked, await remakingOf());
    else await replayLog(request.parse(asked), coresOf);
  } catch (cause) {
    process.exitCode = 1;
    say({
      type: 'problem',
      code: cause instanceof Failure || cause instanceof Unanswerable ? cause.code : 'INTERNAL',
      message: cause instanceof Error ? cause.message : String(cause),
    });
  }
}

/** Pins decisions, or makes those of a packet again. */
async function remake(asked: { readonly do: unknown }, remaking: Remaking): Promise<void> {
  if (asked.do === 'check') {
    const input = checkShape.parse(asked);
    await withKeys(input.key_store_url, async (keys) => {
      for (const line of await checkLines(input, remaking, keys)) say(line);
    });
    return;
  }
  const input = pinRequest.parse(asked);
  const kafka = kafkaOf(input);
  const codecs = createCodecs(createSchemaRegistry({ url: input.registry_url, timeoutMs: REGISTRY_TIMEOUT_MS }));
  await withKeys(input.key_store_url, async (keys) => {
    const at = { kafka, codecs, logId: input.log_id, counts: new PartitionCounts(kafka), keys };
    for await (const line of pinLines(input, remaking, at)) say(line);
  });
}

async function withKeys(url: string | null, use: (keys: KeyStore | null) => Promise<void>): Promise<void> {
  const keys = url === null ? null : new PostgresKeyStore({ url, isAskedOnly: true });
  await use(keys).finally(() => keys?.close());
}

function kafkaOf({ brokers, kafka_user: { user, password, ca }, keys }: ClusterRequest): Kafka {
  return createKafka({
    brokers,
    clientId: 'recourse-replay',
    ...accessOf({ user: user ?? undefined, password: password ?? undefined, ca: ca ?? undefined }),
    signing: signingTold(keys),
  });
}

async function replayLog(
  input: ReplayRequest,
  coresOf: (partitionCount: number) => readonly ServiceCore[],
): Promise<void> {
  const kafka = kafkaOf(input);
  const partitionCount = await new PartitionCounts(kafka).of(input.log);
  if (input.partition !== null && input.partition >= partitionCount)
    throw new Unanswerable('PARTITION_UNKNOWN', `${input.log} has ${String(partitionCount)} partitions, from 0`);
  const core = coresOf(partitionCount).find(({ log }) => log === input.log);
  if (core === undefined) throw new TypeError(`${input.log} is no log of this service`);
  const registry = createSchemaRegistry({ url: input.registry_url, timeoutMs: REGISTRY_TIMEOUT_MS });
  const states = input.database_url === null ? null : openProjectedStates({ url: input.database_url });
  try {
    for (
      let partition = input.partition ?? 0;
      partition < (input.partition === null ? partitionCount : input.partition + 1);
      partition += 1
    ) {
      const log = {
        kafka,
        registry,
        codecs: createCodecs(registry),
        topic: input.log,
        partition,
        partitionCount,
        logId: input.log_id,
      };
      say(await replayOne(core, log, { states, bounds: { untilSeq: input.until_seq, asOf: input.as_of } }));
    }
  } finally {
    await states?.close();
  }
}

/** The projection is read first: the log only grows, so it holds everything that was projected, or was cut. */
async function replayOne(
  core: ServiceCore,
  options: OwnLogOptions,
  { states, bounds }: { readonly states: ProjectedStates | null; readonly bounds: ReplayBounds },
): Promise<ReplayLine> {
  const log = new OwnLog(options);
  try {
    const projected = states === null ? null : await projectionOf(states, core, log);
    const replayed = await replayPartition({
      core,
      log,
      ...bounds,
      ...(projected === null ? {} : { untilSeq: projected.seq }),
      onProgress: progressOf(options.partition),
    });
    return lineOf(options, replayed, projected);
  } finally {
    await log.close();
  }
}

/** Where nothing was projected, nothing stands: the state behind no record. */
async function projectionOf(states: ProjectedStates, core: ServiceCore, log: OwnLog): Promise<StateAt> {
  const found = await states.read({ log: core.log, kinds: withCommonKinds(core.kinds) }, log.options.partition);
  return found ?? { ...log.origin().head, stateHash: sha256Hex('') };
}

function lineOf({ topic, partition }: OwnLogOptions, replayed: Replayed, projected: StateAt | null): ReplayLine {
  const { seq, hash, decidedAt, rows, voids, stateHash, endedBy } = replayed;
  return {
    type: 'partition',
    log: topic,
    partition,
    seq,
    hash: hash.toString('hex'),
    decided_at: seq === 0 ? null : decidedAt,
    rows,
    voids,
    state_hash: stateHash,
    ended_by: endedBy,
    projected:
      projected === null
        ? null
        : {
            seq: projected.seq,
            state_hash: projected.stateHash,
            verdict: judgeReplay(replayed, projected),
            columns: projected.strays ?? [],
          },
  };
}

function progressOf(partition: number): (offset: number, end: number) => void {
  let saidAt = 0;
  return (offset, end) => {
    if (performance.now() - saidAt < PROGRESS_EVERY_MS) return;
    saidAt = performance.now();
    say({ type: 'progress', partition, offset, end });
  };
}

function say(line: ReplayLine | object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function textOf(stream: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  // Standard input without an encoding hands over buffers.
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
