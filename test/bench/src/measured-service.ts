// A service's loop as the service runs it, without its HTTP edge, inside a measured process.
import { createServiceRuntime, Vault, withCommonKinds } from '@recourse/event-log';
import type { LoopEvent, LoopSettings, PartitionStore, Sealing, ServiceCore, StoreFactory } from '@recourse/event-log';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { PostgresDatabase, PostgresKeyStore } from '@recourse/service';
import type { SigningPlaces } from '@recourse/kafka';
import { randomBytes } from 'node:crypto';
import { signingOf } from './signing.js';

/** What a measured service is connected to. */
export interface MeasuredAddress {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly logId: string;
  /** Database of the keys that seal payloads; null: the service runs without, and payloads stay as they came. */
  readonly keyStoreUrl: string | null;
  /** Key with which the edge signs commands, hex; absent: nobody asks. */
  readonly edgeKey?: string;
  readonly settings?: Partial<LoopSettings>;
  /** Keys where wires are strict; absent: they are open. */
  readonly signing?: SigningPlaces;
}

/** What a measured service tells of one of its logs. */
export interface MeasuredWatch {
  readonly log: string;
  /** The loop asks how far its rows are: it begins, or begins anew. */
  readonly onLookedAt?: () => void;
  readonly onEvent: (event: LoopEvent & { readonly partition: number }) => void;
  readonly onProjected: (partition: number, seq: number) => void;
}

export interface MeasuredService {
  readonly stop: () => Promise<void>;
}

/** One connection per partition writes; the others answer what is loaded and which time it is. */
const CONNECTIONS_MAX = 4;
/** Retention window of the services unless they are told, milliseconds. */
const SEAL_WINDOW_MS = 2_592_000_000;

/** Starts the logs of a service; resolves once it joined its group. Errors: those of broker, registry and database. */
export async function startMeasured(
  cores: readonly ServiceCore[],
  { brokers, registryUrl, databaseUrl, logId, keyStoreUrl, edgeKey, settings, signing }: MeasuredAddress,
  watch: MeasuredWatch,
): Promise<MeasuredService> {
  const database = await openDatabase(databaseUrl, cores);
  const stores: StoreFactory = {
    partition: (log, partition) =>
      log === watch.log
        ? watched(partition, database.partition(log, partition), watch)
        : database.partition(log, partition),
  };
  const keys = keyStoreUrl === null ? null : new PostgresKeyStore({ url: keyStoreUrl });
  const runtime = createServiceRuntime({
    cores,
    kafka: createKafka({ brokers, clientId: 'measured', signing: signingOf(signing) }),
    registry: createSchemaRegistry({ url: registryUrl }),
    stores,
    logId,
    groupId: `measured-${logId}`,
    edgeKey: edgeKey === undefined ? null : Buffer.from(edgeKey, 'hex'),
    ...(settings === undefined ? {} : { settings }),
    ...(keys === null ? {} : { sealing: vaultOver(keys) }),
    onEvent: (event) => {
      if (event.kind === 'error' || event.kind === 'halted')
        process.stderr.write(`${event.kind}: ${String(event.cause)}\n`);
      if (event.log === watch.log) watch.onEvent(event);
    },
  });
  await runtime.start();
  return {
    stop: async () => {
      await runtime.stop();
      await database.close();
      await keys?.close();
    },
  };
}

function openDatabase(url: string, cores: readonly ServiceCore[]): Promise<PostgresDatabase> {
  return PostgresDatabase.open(
    { url, connectionsMax: CONNECTIONS_MAX },
    cores.flatMap(({ log, kinds, derived }) => [
      { log, kinds: withCommonKinds(kinds) },
      ...(derived ? [{ log: derived.topic, kinds: [] }] : []),
    ]),
  );
}

function vaultOver(store: PostgresKeyStore): Sealing {
  return new Vault({ store, windowMs: SEAL_WINDOW_MS, now: () => performance.now(), random: randomBytes });
}

function watched(partition: number, store: PartitionStore, { onProjected, onLookedAt }: MeasuredWatch): PartitionStore {
  return {
    head: () => {
      onLookedAt?.();
      return store.head();
    },
    load: (groups) => store.load(groups),
    all: (kind) => store.all(kind),
    groups: (kind, after, limit) => store.groups(kind, after, limit),
    due: (until, limit) => store.due(until, limit),
    stateHash: () => store.stateHash(),
    drop: () => store.drop(),
    project: async (from, to, changes) => {
      const result = await store.project(from, to, changes);
      if (result === 'projected') onProjected(partition, to.seq);
      return result;
    },
  };
}
