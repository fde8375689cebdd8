// The log that a core makes of some inputs, in bytes, and its inputs as a broker holds them: what a packet of decisions is made from.
import { FRAME_SIZE, genesisHead, leafHash, schemaIdOf } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import {
  acceptedOf,
  evolveAny,
  Lacking,
  OpenedState,
  OpenKeys,
  pinDecisions,
  Vault,
  ViewHistory,
  withCommonKinds,
} from '@recourse/event-log';
import type {
  AcceptedRecord,
  Decided,
  Derived,
  Doc,
  HeldRecord,
  Input,
  KeyStore,
  Pinned,
  PlacedRecord,
  RecordInput,
  SealScope,
  ServiceCore,
  StateView,
  StoredCursor,
  TimerInput,
  ViewRecord,
  Views,
} from '@recourse/event-log';
import type { FetchedBatch } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { RowStore } from './row-store.js';

const LOG_ID = 'spec';
const KEYED: ReadonlySet<string> = new Set(['lease_id', 'action_digest']);
const WINDOW_MS = 86_400_000;
const EDGE_FIELDS = { signature: Buffer.from('an edge signed this') };

/** Codecs of a registry that knows every schema of ours. */
export function ownCodecs(): Codecs {
  let id = 0;
  return createCodecs({
    schemaById: (asked) => Promise.reject(new Error(`nobody wrote schema ${String(asked)}`)),
    idOf: () => Promise.resolve((id += 1)),
  });
}

/** One partition of a log of one partition, and what it was decided from. */
export class ChainedLog {
  /** Every record of a log: its own, those that it heard and those of its views. */
  readonly records: HeldRecord[] = [];
  readonly #placed: PlacedRecord[] = [];
  readonly #topics = new Map<string, FetchedBatch['records'][number][]>();
  readonly #heads = new Map<string, Head>();
  readonly #viewed: ViewRecord[] = [];
  readonly #rows: RowStore;
  readonly #vault: Vault | null;

  /** `store`: what it appends is sealed under keys of it; without, nothing is. */
  constructor(
    readonly core: ServiceCore,
    readonly codecs: Codecs,
    readonly store: KeyStore | null = null,
  ) {
    this.#rows = new RowStore(withCommonKinds(core.kinds));
    let made = 0;
    const random = (bytes: number): Buffer => Buffer.alloc(bytes, (made += 1));
    this.#vault = store === null ? null : new Vault({ store, windowMs: WINDOW_MS, now: () => 0, random });
  }

  /** Takes records of a wire, each in a batch of its own, at this time. */
  async take(now: number, ...inputs: readonly RecordInput[]): Promise<void> {
    for (const input of inputs) {
      const offset = await this.#lay(input);
      await this.#batch({ ...input, offset }, now, { offset: offset + 1, seq: 0, hash: Buffer.alloc(32) });
    }
  }

  /** Takes records of another log, likewise; views of it have them, too. */
  async hear(now: number, ...inputs: readonly RecordInput[]): Promise<void> {
    for (const { topic, type, body, key } of inputs) {
      const held = await this.#chain(topic, await this.#sealedOf({ type, body }, now, key), key, now);
      if (this.core.views.some((view) => view.topic === topic)) this.#viewed.push(held);
      const { record, whole } = held;
      const { seq, hash } = record;
      const at = { source: 'log', topic, partition: 0, offset: seq - 1, key, type, body: whole, seq, hash } as const;
      await this.#batch(at, now, { offset: seq, seq, hash });
    }
  }

  /** Appends a record to the log of a view: that of the first unless another is named. */
  async see(now: number, decided: Decided, key: string, view = this.core.views[0]?.name): Promise<HeldRecord> {
    const topic = this.core.views.find(({ name }) => name === view)?.topic ?? '';
    const held = await this.#chain(topic, decided, key, now);
    this.#viewed.push(held);
    return held;
  }

  /** Lets the time of a row come. */
  async wait(now: number, timer: TimerInput): Promise<void> {
    await this.#batch(timer, now, null);
  }

  /** Pins of everything, or of some records, as they are asked for by their seq; payloads open by the keys of a store that is named. */
  pins(
    wanted: readonly number[] = this.records.map(({ place }) => place.seq),
    core = this.core,
    store: Pick<KeyStore, 'find'> | null = null,
  ): Promise<Pinned> {
    const placed = this.#placed;
    return pinDecisions({
      ...(store === null ? {} : { keys: new OpenKeys(store) }),
      ...{ core, codecs: this.codecs, logId: LOG_ID, partition: 0, keyed: KEYED },
      partitionCountOf: () => 1,
      log: (async function* () {
        yield await Promise.resolve(placed);
      })(),
      read: ({ input: { topic } }, from, to) => {
        const records = this.#topics.get(topic)?.slice(from, to);
        const batch = { topic, partition: 0, fetchedOffset: from, nextOffset: to, records: records ?? [] };
        return Promise.resolve(records === undefined ? null : [batch]);
      },
      views: this.#histories(core),
      wanted: new Set(wanted),
    });
  }

  /** A wire that forgot what was on it. */
  forget(topic: string): void {
    this.#topics.delete(topic);
  }

  async #lay(input: RecordInput): Promise<number> {
    await this.codecs.prepareWriter(input.topic);
    const { envelope } = input.body;
    const body =
      typeof envelope === 'object' ? { ...input.body, envelope: { ...envelope, ...EDGE_FIELDS } } : input.body;
    return this.#put(input.topic, input.key, this.codecs.encode(input.topic, input.type, body));
  }

  #put(topic: string, key: string, value: Buffer): number {
    const records = this.#topics.get(topic) ?? [];
    this.#topics.set(topic, records);
    records.push({ offset: records.length, key: Buffer.from(key), value, timestamp: 0, headers: {} });
    return records.length - 1;
  }

  async #batch(input: Input, now: number, moved: Omit<StoredCursor, 'topic' | 'partition'> | null): Promise<void> {
    const cursors = moved === null || input.source === 'timer' ? [] : [{ topic: input.topic, partition: 0, ...moved }];
    await this.#append({ type: 'Progress', body: { cursors, reacted_seq: 0 } }, 'progress', now);
    const decided = await this.#decidedOpen(input, now);
    for (const one of decided) await this.#append(await this.#sealed(one, now), this.#keyOf(one), now);
  }

  /** With the keys that it lacks. */
  async #decidedOpen(input: Input, now: number): Promise<readonly Decided[]> {
    for (;;) {
      const vault = this.#vault;
      if (vault === null) return this.#decided(input, now);
      try {
        const { decided, lacked } = vault.using(() => this.#decided(input, now));
        if (lacked.length === 0) return decided;
        await vault.load(lacked);
      } catch (cause) {
        if (!(cause instanceof Lacking) || cause.lack.keys === undefined) throw cause;
        await vault.load(cause.lack.keys);
      }
    }
  }

  #sealed(decided: Decided, now: number): Promise<Decided> {
    return this.#sealedOf(decided, now, this.#keyOf(decided), (member) =>
      this.#warmly((state) => this.core.sealScope?.(decided, state, member)),
    );
  }

  async #sealedOf(
    { type, body }: Decided,
    now: number,
    subject: string,
    scopeOf: (member: Doc | null) => SealScope | undefined = () => undefined,
  ): Promise<Decided> {
    const batch = this.#vault?.batch(now);
    if (batch === undefined) return { type, body };
    const sealed = batch.seal(body, (member) => scopeOf(member) ?? { tenant: 'acme', subject });
    await batch.settle();
    return { type, body: sealed };
  }

  #histories(core: ServiceCore): ReadonlyMap<string, ViewHistory> {
    const seen = (topic: string): readonly ViewRecord[] => this.#viewed.filter(({ place }) => place.log === topic);
    return new Map(core.views.map((view) => [view.name, new ViewHistory(view, seen(view.topic))]));
  }

  #viewsNow(): Views {
    const viewed = this.#histories(this.core);
    const count = this.#viewed.length;
    return {
      view: (name) => ({
        get: (key) => viewed.get(name)?.entry(key, count)?.doc,
        position: (partition) => viewed.get(name)?.position(partition, count) ?? 0,
        partitionOf: () => 0,
      }),
      readToEnd: () => undefined,
    };
  }

  #decided(input: Input, now: number): readonly Decided[] {
    const place = { views: this.#viewsNow(), now, partition: 0, partitions: 1, owns: () => true };
    const vault = this.#vault;
    const told = vault === null || input.source === 'timer' ? input : { ...input, body: vault.openOnUse(input.body) };
    const { records, answer } = this.#warmly((state) =>
      this.core.decide({ state: vault === null ? state : new OpenedState(state, vault), ...place }, told),
    );
    if (answer === undefined || input.source === 'timer') return records;
    const { command_id, body_sha256 } = input.body['envelope'] as Doc;
    const { status, httpStatus: http_status, code, body } = answer;
    const fields = { command_id, body_sha256, status, http_status, code, answer: JSON.stringify(body) };
    return [...records, { type: 'CommandAnswered', body: fields }];
  }

  async #append(decided: Decided, key: string, now: number): Promise<void> {
    const { record } = await this.#chain(this.core.log, decided, key, now);
    this.#placed.push({ ...record, offset: record.seq - 1, key });
    this.#rows.apply(this.#warmly((state) => evolveAny(this.core, state, record)));
    await this.#derive(record, now);
  }

  async #derive(record: AcceptedRecord, now: number): Promise<void> {
    const { topic, derive } = this.core.derived ?? { topic: '', derive: (): readonly Derived[] => [] };
    for (const [source_index, { key, type, body }] of derive(record).entries()) {
      const derived = { type, body: { ...body, source_seq: record.seq, source_index } };
      this.#viewed.push({ ...(await this.#chain(topic, derived, key, now)), at: now });
    }
  }

  /** The next record of a log. */
  async #chain(topic: string, { type, body }: Decided, key: string, decided_at: number): Promise<HeldRecord> {
    await this.codecs.prepareWriter(topic);
    const genesis = { logId: LOG_ID, topic, partition: 0, partitionCount: 1 };
    const before = this.#heads.get(topic) ?? genesisHead(genesis);
    const seq = before.seq + 1;
    const value = this.codecs.encode(topic, type, { ...body, seq, prev_hash: before.hash, decided_at });
    const fingerprint = this.codecs.fingerprintOf(schemaIdOf(value) ?? -1) ?? Buffer.alloc(32);
    const head = { seq, hash: leafHash(fingerprint, Buffer.from(key), value.subarray(FRAME_SIZE)) };
    this.#heads.set(topic, head);
    this.#put(topic, key, value);
    const read = this.codecs.decodeSync(value);
    const whole = plainOf(read.kind === 'decoded' ? read.body : {}) as Doc; // records are objects
    const place = { log: topic, partition: 0, seq, hash: head.hash.toString('hex') };
    const held = { place, key, record: acceptedOf(type, whole, head), whole };
    this.records.push(held);
    return held;
  }

  #keyOf(decided: Decided): string {
    return decided.type === 'CommandAnswered' ? String(decided.body['command_id']) : this.core.keyOf(decided);
  }

  #warmly<T>(call: (state: StateView) => T): T {
    const loaded = new Set<string>();
    for (;;) {
      try {
        return call(this.#rows.view(loaded));
      } catch (cause) {
        if (!(cause instanceof Lacking)) throw cause;
        if (cause.lack.rows === undefined) throw cause;
        for (const { kind, group } of cause.lack.rows) loaded.add(`${kind}/${group}`);
      }
    }
  }
}

/** The value without the classes of its decoder. */
function plainOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(plainOf);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainOf(member)]));
}
