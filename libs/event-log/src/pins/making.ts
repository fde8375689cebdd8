// Tries an input on the rows and views of its time, and notes what it read where it makes the records that stand there.
import type { PlacedRecord } from '../own-log.js';
import type { PayloadDoc } from '../sealing/sealing.js';
import type { Input, Owns, RowAddress } from '../service-core.js';
import { compareRecords } from './compare.js';
import type { Compared } from './compare.js';
import { LookedViews } from './looked-views.js';
import type { LookedAt } from './looked-views.js';
import { NO_KEYS } from './payload-keys.js';
import type { Closed, PayloadKeys } from './payload-keys.js';
import { named, WatchedRows } from './pin-state.js';
import type { FoldedRows } from './pin-state.js';
import type { Pin, PinnedGroup, PinnedInput, PinnedPayload, PinnedRecord, PinnedRow } from './pin.messages.js';
import type { PinSource } from './pin-source.js';
import { TIME_KIND } from '../stood-time.js';
import { remake } from './remake.js';
import { homesOf, namesOf } from './wire-homes.js';
import { wireInput } from './wire-input.js';
import type { Remade } from './remake.js';
import type { Origins, RowOrigins } from './row-origins.js';

/** How much older or newer than its decision a view may have been, milliseconds. */
const VIEW_OLDER_MS = 5_000;
const VIEW_NEWER_MS = 2_000;

/** One record of an input that waits to be taken. */
export interface Waiting {
  /** As the service heard it. */
  readonly input: Input;
  readonly pinned: PinnedInput;
  /** Payloads that a wire told in the clear, by their names in the pin. */
  readonly told: ReadonlyMap<string, PayloadDoc>;
}

/** An input, tried. */
export interface Attempt extends LookedAt {
  readonly pinned: PinnedInput;
  readonly read: WatchedRows;
  readonly payloads: readonly PinnedPayload[];
}

export type Tried =
  { readonly kind: 'matched'; readonly attempt: Attempt; readonly count: number } | { readonly kind: Closed | 'other' };

/** A row as it was read, with what it follows from. */
interface NotedRow extends PinnedRow {
  readonly origins: Origins | undefined;
}
type NotedGroup = Omit<PinnedGroup, 'rows'> & { readonly rows: readonly NotedRow[] };
type NotedPin = Omit<Pin, 'groups'> & { readonly groups: readonly NotedGroup[] };

export class Making {
  readonly #pins: NotedPin[] = [];
  readonly #keys: PayloadKeys;

  constructor(
    private readonly source: Pick<
      PinSource,
      'core' | 'codecs' | 'partition' | 'keyed' | 'keys' | 'views' | 'partitionCountOf'
    >,
    private readonly place: { readonly partitions: number; readonly owns: Owns },
    private readonly rows: FoldedRows,
    private readonly origins: RowOrigins,
  ) {
    this.#keys = source.keys ?? NO_KEYS;
  }

  /** Does the input decide the first of these records, under some view that its process may have had? Errors: Lacking, for a key that has to be loaded. */
  try({ input, pinned, told }: Waiting, rest: readonly PlacedRecord[]): Tried {
    const now = rest[0]?.decidedAt ?? 0;
    const homes = homesOf(told, rest, this.#keys);
    const again = pinned.source === 'wire' ? wireInput(pinned, this.source.codecs, homes.sealed) : input;
    let kind: Closed | 'other' = 'other';
    if (again === null) return { kind };
    for (const age of this.#ages(now)) {
      const { remade, read, looked } = this.#make(again, now, age);
      const seen = looked();
      const compared = this.#compared(remade, rest);
      if (compared !== null && compared.differs === null && remade.kind === 'made') {
        const payloads = namesOf(homes.sealed, remade.opened);
        return { kind: 'matched', attempt: { pinned, read, payloads, ...seen }, count: remade.decided.length };
      }
      kind = closedIn(remade, compared, homes.isErased) ?? kind;
      // What looks at no view comes to the same under every one.
      if (seen.entries.length + seen.positions.length === 0) break;
    }
    return { kind };
  }

  /** Null where it decides nothing that stands in a log. */
  #compared(remade: Remade, rest: readonly PlacedRecord[]): Compared | null {
    if (remade.kind !== 'made' || remade.decided.length === 0 || remade.isParked) return null;
    const { core, codecs, keyed } = this.source;
    const standing = rest.slice(0, remade.decided.length).map((record) => ({ record, key: record.key }));
    return compareRecords(remade.decided, standing, { codecs, log: core.log, keyed, keys: this.#keys });
  }

  /** Does it decide nothing? Errors: as `try`. */
  isIdle({ input }: Waiting, now: number): boolean {
    const { remade } = this.#make(input, now, 0);
    return remade.kind === 'made' && remade.decided.length === 0;
  }

  /** Notes the decision, over the rows as they are now. */
  pin(
    { pinned, read, entries, positions, payloads }: Attempt,
    records: readonly PlacedRecord[],
    progress: PinnedRecord,
  ): void {
    const { core, partition } = this.source;
    this.#pins.push({
      log: core.log,
      partition,
      records: records.map(({ seq, hash }) => ({ log: core.log, partition, seq, hash: hash.toString('hex') })),
      progress,
      input: pinned,
      groups: this.#groupsIn(read),
      entries,
      payloads,
      positions,
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
  ): { readonly remade: Remade; readonly read: WatchedRows; readonly looked: () => LookedAt } {
    const { core, partition } = this.source;
    const read = new WatchedRows(this.rows);
    const views = new LookedViews(this.source, now, age);
    const remade = remake({ core, rows: read, views, keys: this.#keys, now, partition, ...this.place }, input);
    return { remade, read, looked: () => views.looked() };
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
    // Almost no log has one, and whoever makes a decision again takes a packet without one so.
    return [...whole, ...some].filter(({ kind, rows }) => kind !== TIME_KIND || rows.some(({ doc }) => doc !== null));
  }

  #noted(address: RowAddress): NotedRow {
    const { kind, group, key } = address;
    return { key, doc: this.rows.row(kind, group, key) ?? null, isFolded: false, origins: this.origins.of(address) };
  }
}

/** Why nobody can say whether it is what stands there; null where one can. */
function closedIn(remade: Remade, compared: Compared | null, isErased: boolean): Closed | null {
  if (remade.kind === 'payload_sealed' || remade.kind === 'payload_erased')
    return isErased ? 'payload_erased' : remade.kind;
  if (compared === null) return null;
  return compared.closed ?? (remade.kind === 'made' && remade.isHashed ? 'payload_sealed' : null);
}
