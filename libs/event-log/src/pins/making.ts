// Tries an input on the rows and views of its time, and notes what it read where it makes the records that stand there.
import type { PlacedRecord } from '../own-log.js';
import type { Doc, Input, Owns, RowAddress } from '../service-core.js';
import { named, WatchedRows } from './pin-state.js';
import type { FoldedRows } from './pin-state.js';
import type { Pin, PinnedEntry, PinnedGroup, PinnedInput, PinnedRecord, PinnedRow } from './pin.messages.js';
import type { PinSource } from './pin-source.js';
import { compareRecords, remake } from './remake.js';
import type { Remade } from './remake.js';
import type { Origins, RowOrigins } from './row-origins.js';

/** How much older or newer than its decision a view may have been, milliseconds. */
const VIEW_OLDER_MS = 5_000;
const VIEW_NEWER_MS = 2_000;

/** An input, tried. */
export interface Attempt {
  readonly pinned: PinnedInput;
  readonly read: WatchedRows;
  readonly entries: readonly PinnedEntry[];
}

export type Tried =
  | { readonly kind: 'matched'; readonly attempt: Attempt; readonly count: number }
  | { readonly kind: 'payload_sealed' | 'other' };

/** A row as it was read, with what it follows from. */
interface NotedRow extends PinnedRow {
  readonly origins: Origins | undefined;
}
type NotedGroup = Omit<PinnedGroup, 'rows'> & { readonly rows: readonly NotedRow[] };
type NotedPin = Omit<Pin, 'groups'> & { readonly groups: readonly NotedGroup[] };

export class Making {
  readonly #pins: NotedPin[] = [];

  constructor(
    private readonly source: Pick<PinSource, 'core' | 'codecs' | 'partition' | 'keyed' | 'views'>,
    private readonly place: { readonly partitions: number; readonly owns: Owns },
    private readonly rows: FoldedRows,
    private readonly origins: RowOrigins,
  ) {}

  /** Does the input decide the first of these records, under some view that its process may have had? */
  try(
    { input, pinned }: { readonly input: Input; readonly pinned: PinnedInput },
    rest: readonly PlacedRecord[],
  ): Tried {
    const now = rest[0]?.decidedAt ?? 0;
    let kind: 'payload_sealed' | 'other' = 'other';
    for (const age of this.#ages(now)) {
      const { remade, read, entries } = this.#make(input, now, age);
      if (remade.kind === 'payload_sealed') kind = 'payload_sealed';
      if (remade.kind !== 'made' || remade.decided.length === 0 || remade.isParked) continue;
      const { decided } = remade;
      const standing = rest.slice(0, decided.length).map((record) => ({ record, key: record.key }));
      const { core, codecs, keyed } = this.source;
      if (compareRecords(decided, standing, { codecs, log: core.log, keyed }).differs !== null) {
        if (remade.isHashed) kind = 'payload_sealed';
        continue;
      }
      return { kind: 'matched', attempt: { pinned, read, entries: entries() }, count: decided.length };
    }
    return { kind };
  }

  /** Does it decide nothing? */
  isIdle(input: Input, now: number): boolean {
    const { remade } = this.#make(input, now, 0);
    return remade.kind === 'made' && remade.decided.length === 0;
  }

  /** Notes the decision, over the rows as they are now. */
  pin({ pinned, read, entries }: Attempt, records: readonly PlacedRecord[], progress: PinnedRecord): void {
    const { core, partition } = this.source;
    this.#pins.push({
      log: core.log,
      partition,
      records: records.map(({ seq, hash }) => ({ log: core.log, partition, seq, hash: hash.toString('hex') })),
      progress,
      input: pinned,
      groups: this.#groupsIn(read),
      entries,
    });
  }

  /** All pins that made a record asked for; a row is folded where the packet holds all records behind it. */
  pins(wanted: ReadonlySet<number>): readonly Pin[] {
    const asked = this.#pins.filter(({ records }) => records.some(({ seq }) => wanted.has(seq)));
    const held = new Set([...wanted, ...asked.flatMap(({ records }) => records.map(({ seq }) => seq))]);
    // A row that no record ever made is none where the packet is folded, too.
    const isHeld = (origins: Origins | undefined): boolean =>
      origins !== null && [...(origins ?? [])].every((seq) => held.has(seq));
    return asked.map((pin) => ({
      ...pin,
      groups: pin.groups.map((group) => ({
        ...group,
        rows: group.rows.map(({ origins, ...row }) => ({ ...row, isFolded: isHeld(origins) })),
      })),
    }));
  }

  /** Offsets from the number of view records there were at that time, the likeliest first. */
  #ages(now: number): readonly number[] {
    const ages = new Set([0]);
    for (const history of this.source.views.values()) {
      const at = history.countAt(now);
      for (let older = history.countAt(now - VIEW_OLDER_MS) - at; older < 0; older += 1) ages.add(older);
      for (let newer = history.countAt(now + VIEW_NEWER_MS) - at; newer > 0; newer -= 1) ages.add(newer);
    }
    return [...ages].sort((a, b) => Math.abs(a) - Math.abs(b));
  }

  #make(
    input: Input,
    now: number,
    age: number,
  ): { readonly remade: Remade; readonly read: WatchedRows; readonly entries: () => readonly PinnedEntry[] } {
    const { core, partition, views } = this.source;
    const read = new WatchedRows(this.rows);
    const looked = new Map<string, PinnedEntry>();
    const entryOf = (view: string, key: string): Doc | undefined => {
      const history = views.get(view);
      const found = history?.entry(key, history.countAt(now) + age);
      looked.set(`${view}\u0000${key}`, { view, key, records: found?.by ?? [] });
      return found?.doc;
    };
    const remade = remake({ core, rows: read, entryOf, now, partition, ...this.place }, input);
    return { remade, read, entries: () => [...looked.values()] };
  }

  #groupsIn(read: WatchedRows): readonly NotedGroup[] {
    const whole = [...read.groups.values()].map(({ kind, group }) => ({
      kind,
      group,
      isWhole: true,
      rows: this.origins.keysOf(kind, group).map((key) => this.#noted({ kind, group, key })),
    }));
    const single = [...read.addresses.values()].filter(({ kind, group }) => !read.groups.has(named(kind, group)));
    const byGroup = Map.groupBy(single, ({ kind, group }) => named(kind, group));
    const some = [...byGroup.values()].flatMap((addresses) => {
      const [first] = addresses;
      if (first === undefined) return [];
      const rows = addresses.map((address) => this.#noted(address));
      return [{ kind: first.kind, group: first.group, isWhole: false, rows }];
    });
    return [...whole, ...some];
  }

  #noted(address: RowAddress): NotedRow {
    const { kind, group, key } = address;
    return { key, doc: this.rows.row(kind, group, key) ?? null, isFolded: false, origins: this.origins.of(address) };
  }
}
