// What a spread costs: rows read and bindings looked at, counted, for few members and for four times as many.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { evolveAny } from '@recourse/event-log';
import type {
  AcceptedRecord,
  BroadcastView,
  Decided,
  Doc,
  Input,
  Row,
  ServiceCore,
  StateView,
} from '@recourse/event-log';
import type { MutationsFell } from '@recourse/messages';
import { mutationsCore } from '../core.js';
import { refScope } from '../rules/identity.js';
import { executed, ledger, NOW, REF, refund, state, statement, TENANT } from './ledger.testing.js';

const FEW = 1_000;
const MANY = 4_000;
const PER_RUN = 20;
/** Most members of one record: as many as a decision that acts may hold. */
const TOGETHER_MAX = 200;
const NO_HASH = Buffer.alloc(32);

/** Decisions taken one after the other over rows in memory that count how they are read. */
class Counted {
  readonly #core: ServiceCore = mutationsCore();
  readonly #made = ledger();
  readonly #groups = new Map<string, Map<string, Row>>();
  #seq = 0;
  reads = { rows: 0, bindings: 0 };
  readonly decisions: (readonly Decided[])[] = [];

  constructor(
    readonly members: number,
    perRun = PER_RUN,
  ) {
    for (let index = 0; index < members; index += 1) {
      const run_id = `run-${String(Math.floor(index / perRun))}`;
      this.#take(executed(refund({ run_id, effect_key: String(index), event_id: String(index) })));
    }
  }

  /** The ref is invalidated, and that is spread to its end. */
  spread(): this {
    this.#take(state(this.#made.assumptions, statement('invalidated', 'inv-1')));
    this.reads = { rows: 0, bindings: 0 };
    const [spread] = this.#rows('spread', refScope(TENANT, REF)).values();
    if (spread === undefined) throw new Error('nothing is spread');
    const { kind, group, key } = spread;
    while (this.#rows(kind, group).has(key))
      this.decisions.push(this.#take({ source: 'timer', address: { kind, group, key }, dueAt: NOW }));
    return this;
  }

  #take(input: Input): readonly Decided[] {
    const { assumptions, contracts, fallen, entries } = this.#made;
    const views: Readonly<Record<string, BroadcastView>> = { assumptions, contracts, fallen, entries };
    const { records } = this.#core.decide(
      {
        state: this.#view(),
        views: { view: (name) => views[name] ?? assumptions, readToEnd: () => undefined },
        now: NOW,
        partition: 0,
        partitions: 1,
        owns: () => true,
      },
      input,
    );
    for (const record of records) this.#accept(record);
    return records;
  }

  #accept({ type, body }: Decided): void {
    this.#seq += 1;
    const record: AcceptedRecord = { type, body, seq: this.#seq, hash: NO_HASH, prevHash: NO_HASH, decidedAt: NOW };
    for (const change of evolveAny(this.#core, this.#view(), record)) {
      const { kind, group, key } = change.op === 'put' ? change.row : change.address;
      if (change.op === 'put') this.#rows(kind, group).set(key, change.row);
      else this.#rows(kind, group).delete(key);
    }
  }

  #rows(kind: string, group: string): Map<string, Row> {
    const at = `${kind}/${group}`;
    const rows = this.#groups.get(at) ?? new Map<string, Row>();
    this.#groups.set(at, rows);
    return rows;
  }

  #view(): StateView {
    const counted = (kind: string, docs: readonly Doc[]): readonly Doc[] => {
      this.reads.rows += docs.length;
      if (kind === 'binding') this.reads.bindings += docs.length;
      return docs;
    };
    const all = (kind: string, group: string): readonly Doc[] =>
      Array.from(this.#rows(kind, group).values(), ({ doc }) => doc);
    const placeOf = (kind: string, doc: Doc): number =>
      this.#core.kinds.find((spec) => spec.kind === kind)?.place?.(doc) ?? -1;
    const get: StateView['get'] = (kind, group, key) => {
      const doc = this.#rows(kind, group).get(key)?.doc;
      counted(kind, doc === undefined ? [] : [doc]);
      return doc;
    };
    return {
      get,
      stored: get,
      list: (kind, group) => counted(kind, all(kind, group)),
      all: (kind, group) => counted(kind, all(kind, group)),
      *lastFirst(kind, group, below) {
        const ordered = all(kind, group).filter((doc) => placeOf(kind, doc) < (below ?? Infinity));
        for (const doc of [...ordered].sort((a, b) => placeOf(kind, b) - placeOf(kind, a))) {
          counted(kind, [doc]);
          yield doc;
        }
      },
    };
  }
}

describe('a spread', () => {
  let few: Counted;
  let many: Counted;
  beforeAll(() => {
    few = new Counted(FEW).spread();
    many = new Counted(MANY).spread();
  });

  it('looks at each binding of its ref three times, however many decisions it takes: on its way, to mark it, and before it ends', () => {
    for (const { reads, members, decisions } of [few, many])
      expect(reads.bindings).toBeLessThanOrEqual(3 * members + 2 * decisions.length);
  });

  it('reads as many rows a member when there are four times as many', () => {
    expect(many.reads.rows / MANY).toBeLessThanOrEqual((few.reads.rows / FEW) * 1.1);
  });

  it('marks each member once, what was recorded last first, and hundreds in a decision that owes nothing outside', () => {
    const fell = many.decisions.map(
      (records) =>
        records.filter(({ type }) => type === 'MutationsFell').map(({ body }) => body as unknown as MutationsFell), // what this type holds
    );
    const seqs = fell.flat().flatMap(({ members }) => members.map(({ recorded_seq }) => recorded_seq));
    expect(new Set(seqs).size).toBe(MANY);
    expect(seqs).toEqual([...seqs].sort((a, b) => b - a));
    const [first] = fell.map((records) => records.reduce((sum, { members }) => sum + members.length, 0));
    expect(first).toBeGreaterThan(200);
  });

  it('puts no more into one record than a decision that acts may hold', () => {
    const fell = new Counted(FEW, FEW)
      .spread()
      .decisions.flat()
      .filter(({ type }) => type === 'MutationsFell')
      .map(({ body }) => (body as unknown as MutationsFell).members.length); // what this type holds
    expect(fell.reduce((sum, count) => sum + count, 0)).toBe(FEW);
    expect(Math.max(...fell)).toBe(TOGETHER_MAX);
  });
});
