// The ledger's loop as the service runs it, without its HTTP edge, inside a measured process.
import { createServiceRuntime, Vault, withCommonKinds } from '@recourse/event-log';
import type { LoopEvent, LoopSettings, PartitionStore, Sealing, ServiceCore, StoreFactory } from '@recourse/event-log';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { assumptionsCore, mutationsCore } from '@recourse/mutation-ledger';
import { PostgresDatabase, PostgresKeyStore } from '@recourse/service';
import type { SigningPlaces } from '@recourse/kafka';
import { randomBytes } from 'node:crypto';
import { signingOf } from './signing.js';

/** What a measured ledger is connected to. */
export interface LedgerAddress {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly logId: string;
  /** Database of the keys that seal payloads; null: the ledger runs without, and payloads stay as they came. */
  readonly keyStoreUrl: string | null;
  readonly settings?: Partial<LoopSettings>;
  /** Keys where wires are strict; absent: they are open. */
  readonly signing?: SigningPlaces;
}

/** What a measured ledger tells of its mutations log. */
export interface LedgerWatch {
  /** The loop asks how far its rows are: it begins, or begins anew. */
  readonly onLookedAt?: () => void;
  readonly onEvent: (event: LoopEvent & { readonly partition: number }) => void;
  readonly onProjected: (partition: number, seq: number) => void;
}

export interface MeasuredLedger {
  readonly stop: () => Promise<void>;
}

/** One connection per partition writes; the others answer what is loaded and which time it is. */
const CONNECTIONS_MAX = 4;
const LOG = 'recourse.mutations';
/** Retention window of the services unless they are told, milliseconds. */
const SEAL_WINDOW_MS = 2_592_000_000;

/** Starts both logs of the ledger; resolves once it joined its group. Errors: those of broker, registry and database. */
export async function startLedger(
  { brokers, registryUrl, databaseUrl, logId, keyStoreUrl, settings, signing }: LedgerAddress,
  watch: LedgerWatch,
): Promise<MeasuredLedger> {
  const cores: readonly ServiceCore[] = [assumptionsCore(), mutationsCore()];
  const database = await openDatabase(databaseUrl, cores);
  const stores: StoreFactory = {
    partition: (log, partition) =>
      log === LOG ? watched(partition, database.partition(log, partition), watch) : database.partition(log, partition),
  };
  const keys = keyStoreUrl === null ? null : new PostgresKeyStore({ url: keyStoreUrl });
  const runtime = createServiceRuntime({
    cores,
    kafka: createKafka({ brokers, clientId: 'ledger', signing: signingOf(signing) }),
    registry: createSchemaRegistry({ url: registryUrl }),
    stores,
    logId,
    groupId: `ledger-${logId}`,
    edgeKey: null,
    ...(settings === undefined ? {} : { settings }),
    ...(keys === null ? {} : { sealing: vaultOver(keys) }),
    onEvent: (event) => {
      if (event.kind === 'error' || event.kind === 'halted')
        process.stderr.write(`${event.kind}: ${String(event.cause)}\n`);
      if (event.log === LOG) watch.onEvent(event);
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

function watched(partition: number, store: PartitionStore, { onProjected, onLookedAt }: LedgerWatch): PartitionStore {
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
