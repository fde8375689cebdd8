// Given-when-then over a ServiceCore: what the loop does to one partition, without Kafka, database or clock.
//
//   harness(core, { views, isRebuilt }).given(record('RunOpened', {...})).when(wire(...), 2_000).then(record('StepFailed', {...}))
//
// Boundary: owns the rows, the seq and the fake hashes; decides and evolves nothing itself.
//
// Invariants
//   H1. State, input and records are frozen: a core that mutates what it is given fails every spec.
//   H2. Every group is cold when decide, owed or evolve begins, and the views are not read to their end: what lacks is brought, and
//       the call made again, as the loop does.
//   H3. With isRebuilt, the rows are thrown away and folded anew from the recorded records before every step.
import { partitionForKey } from '@recourse/kernel';
import { evolveAny, Lacking, withCommonKinds } from '@recourse/event-log';
import type {
  AcceptedRecord,
  BroadcastView,
  ChangedRow,
  CommandAnswer,
  DecideContext,
  Decided,
  Decision,
  Derived,
  Input,
  Outgoing,
  Row,
  ServiceCore,
  StateView,
  TimerInput,
  Views,
} from '@recourse/event-log';
import { fakeHash, shown } from './inputs.js';
import { deepFreeze, mismatch } from './plain-data.js';
import { RowStore, timerOf } from './row-store.js';

/** The two ways every scenario is run: straight through, and with state rebuilt from the records before every step. */
export const WAYS = [
  { way: 'straight', isRebuilt: false },
  { way: 'rebuilt before every step', isRebuilt: true },
] as const;

export interface HarnessOptions {
  /** Broadcast views by name. */
  readonly views?: Readonly<Record<string, BroadcastView>>;
  /** Rebuild the rows from the records before every step. */
  readonly isRebuilt?: boolean;
  /** Partition the loop owns; 0 unless told. */
  readonly partition?: number;
  /** Partitions of the own log; 1 unless told. */
  readonly partitionCount?: number;
}

/**
 * Starts a scenario on one core.
 *
 * Errors: every `then…` throws with what was expected and what came; given and when throw what the core throws.
 */
export function harness(core: ServiceCore, options: HarnessOptions = {}): CoreHarness {
  return new CoreHarness(core, options);
}

/** One partition of one log, driven by hand. */
export class CoreHarness {
  private readonly accepted: AcceptedRecord[] = [];
  private state: RowStore;
  private last: Decision = { records: [] };
  private lastAccepted: readonly AcceptedRecord[] = [];
  private readonly changed = new Map<AcceptedRecord, readonly ChangedRow[]>();
  /** Did the last step ask for views that are read to their end? */
  private readViews = false;
  private now = 0;

  constructor(
    private readonly core: ServiceCore,
    private readonly options: HarnessOptions,
  ) {
    this.state = new RowStore(withCommonKinds(core.kinds));
  }

  /** Takes records as already accepted, in order. */
  given(...records: readonly Decided[]): this {
    for (const record of records) this.accept(record);
    return this;
  }

  /** Feeds one input at database time `now`; its records are accepted at once. */
  when(input: Input, now: number): this {
    if (now < this.now) throw new Error(`database time ${now} is behind the chain's ${this.now}`);
    if (this.options.isRebuilt === true) this.rebuild();
    this.now = now;
    this.readViews = false;
    const frozen = deepFreeze(input);
    this.last = deepFreeze(this.coldly((state, views) => this.core.decide(this.context(state, views), frozen)));
    this.lastAccepted = this.last.records.map((record) => this.accept(record));
    return this;
  }

  /** Feeds one input while the views are old: its decision must ask for their end. Nothing is recorded; feed it again. */
  whenBehind(input: Input, now: number): this {
    if (this.options.isRebuilt === true) this.rebuild();
    this.now = now;
    try {
      this.coldly((state, views) => this.core.decide(this.context(state, views), deepFreeze(input)), false);
    } catch (error) {
      if (error instanceof Lacking && error.lack.views === true) return this;
      throw error;
    }
    throw new Error('decided without reading the views to their end');
  }

  /** Feeds the timers of every row that is due at `now`, in order of dueAt, until none is left. */
  whenDue(now: number): this {
    const all: AcceptedRecord[] = [];
    for (let guard = 0; ; guard += 1) {
      const [row] = this.state.due(now);
      if (row === undefined) break;
      if (guard > 10_000) throw new Error(`timer ${row.kind}/${row.group}/${row.key} stays due`);
      this.when(timerOf(row), now);
      all.push(...this.lastAccepted);
    }
    this.last = { records: all.map(({ type, body }) => ({ type, body })) };
    this.lastAccepted = all;
    return this;
  }

  /** Exactly these records came, in order; bodies are compared on the named fields. */
  then(...expected: readonly Decided[]): this {
    const actual = this.last.records;
    if (this.last.park !== undefined) throw new Error(`parked: ${this.last.park.reason} (${this.last.park.detail})`);
    const problem = mismatch(actual, expected, 'records');
    if (problem !== null) throw new Error(`${problem}\nexpected ${shown(expected)}\ncame     ${shown(actual)}`);
    return this;
  }

  /** The input changed nothing. */
  thenNothing(): this {
    return this.then();
  }

  /** The command was answered so; compared on the named fields. */
  thenAnswer(expected: Partial<CommandAnswer>): this {
    return this.check(this.last.answer, expected, 'answer');
  }

  /** The input was parked with this code. */
  thenParked(reason: string): this {
    return this.check(this.last.park, { reason }, 'park');
  }

  /** The decision was made on views that were read to their end after the input came. */
  thenReadViews(): this {
    return this.check(this.readViews, true, 'reads the views to their end');
  }

  /** Messages the records of the last step send. */
  outgoing(): readonly Outgoing[] {
    return this.lastAccepted.flatMap((record) => this.core.react(record));
  }

  /** Records of the derived log that follow from the records of the last step. */
  derived(): readonly Derived[] {
    return this.lastAccepted.flatMap((record) => this.core.derived?.derive(record) ?? []);
  }

  /** Is the message still owed now? */
  owed(message: Outgoing, now = this.now): boolean {
    return this.coldly((state) => this.core.owed(state, message, now));
  }

  /** Decision of the last step. */
  decision(): Decision {
    return this.last;
  }

  /** Records accepted so far. */
  records(): readonly AcceptedRecord[] {
    return this.accepted;
  }

  /** Records accepted in the last step. */
  recorded(): readonly AcceptedRecord[] {
    return this.lastAccepted;
  }

  /** Rows that a record of this scenario changed, as they were and as they are. */
  changedBy(record: AcceptedRecord): readonly ChangedRow[] {
    return this.changed.get(record) ?? [];
  }

  /** Rows, of one kind or of all, ordered by kind, group and key. */
  rows(kind?: string): readonly Row[] {
    return this.state.all().filter((row) => kind === undefined || row.kind === kind);
  }

  /** The timer that is set on a row. Errors: throws when there is none. */
  timer(kind: string, key: string): TimerInput {
    const row = this.rows(kind).find((one) => one.key === key && one.dueAt !== null);
    if (row === undefined) throw new Error(`no timer on ${kind}/${key}`);
    return timerOf(row);
  }

  private context(state: StateView, views: Views): DecideContext {
    const { partition = 0, partitionCount = 1 } = this.options;
    return {
      state,
      views,
      now: this.now,
      partition,
      partitions: partitionCount,
      owns: (key) => partitionForKey(key, partitionCount) === partition,
    };
  }

  private viewNamed(name: string): BroadcastView {
    const view = this.options.views?.[name];
    if (view === undefined || !this.core.views.some((spec) => spec.name === name))
      throw new Error(`no view ${name} is declared and given`);
    return view;
  }

  private accept(record: Decided): AcceptedRecord {
    const seq = this.accepted.length + 1;
    const accepted = deepFreeze<AcceptedRecord>({
      ...record,
      seq,
      hash: fakeHash(this.core.log, seq, record.body),
      prevHash: this.accepted.at(-1)?.hash ?? Buffer.alloc(32),
      decidedAt: this.now,
    });
    this.keyOf(record);
    this.accepted.push(accepted);
    this.evolve(accepted);
    return accepted;
  }

  private keyOf(record: Decided): void {
    const key = this.core.keyOf(record);
    if (key === '' || Buffer.byteLength(key) > 512)
      throw new Error(`key of ${record.type} is empty or above 512 bytes`);
  }

  private evolve(record: AcceptedRecord): void {
    const changes = this.coldly((state) => evolveAny(this.core, state, record));
    this.changed.set(record, this.state.apply(deepFreeze(changes)));
  }

  private rebuild(): void {
    const before = shown(this.state.all());
    this.state = new RowStore(withCommonKinds(this.core.kinds));
    for (const record of this.accepted) this.evolve(record);
    if (shown(this.state.all()) !== before)
      throw new Error(`rebuilt rows differ\nbefore  ${before}\nrebuilt ${shown(this.state.all())}`);
  }

  /** Calls with cold groups and old views until all that is read has been brought. */
  private coldly<T>(call: (state: StateView, views: Views) => T, mayReadViews = true): T {
    const loaded = new Set<string>();
    let areFresh = false;
    const views: Views = {
      view: (name) => this.viewNamed(name),
      readToEnd: () => {
        if (!areFresh) throw new Lacking({ views: true });
      },
    };
    for (;;) {
      try {
        return call(this.state.view(loaded), views);
      } catch (error) {
        if (!(error instanceof Lacking) || (error.lack.views === true && !mayReadViews)) throw error;
        for (const { kind, group } of error.lack.rows ?? []) loaded.add(`${kind}/${group}`);
        if (error.lack.views === true) [areFresh, this.readViews] = [true, true];
      }
    }
  }

  private check(actual: unknown, expected: unknown, path: string): this {
    const problem = mismatch(actual, expected, path);
    if (problem !== null) throw new Error(`${problem}\ndecision ${shown(this.last)}`);
    return this;
  }
}
