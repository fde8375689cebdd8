// Given-when-then over a ServiceCore: what the loop does to one partition, without Kafka, database or clock.
//
//   harness(core, { views, isRebuilt }).given(record('RunOpened', {...})).when(wire(...), 2_000).then(record('StepFailed', {...}))
//
// Boundary: owns the rows, the seq and the fake hashes; decides and evolves nothing itself.
//
// Invariants
//   H1. State, input and records are frozen: a core that mutates what it is given fails every spec.
//   H2. Every group is cold when decide or evolve begins, apart from those of `needs`: NotLoaded is answered by loading and calling again.
//   H3. With isRebuilt, the rows are thrown away and folded anew from the recorded records before every step.
import { NotLoaded } from '@recourse/event-log';
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
  RowAddress,
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
  /** What was decided with fresh views where they were asked for; it counts when anything but thenRefresh follows. */
  private unread: (() => Decision) | null = null;
  private now = 0;

  constructor(
    private readonly core: ServiceCore,
    private readonly options: HarnessOptions,
  ) {
    this.state = new RowStore(core.kinds);
  }

  /** Takes records as already accepted, in order. */
  given(...records: readonly Decided[]): this {
    this.settle();
    for (const record of records) this.accept(record);
    return this;
  }

  /** Feeds one input at database time `now`; its records are accepted at once. A refresh is obeyed, as the loop does, unless `thenRefresh` comes next. */
  when(input: Input, now: number, more: { readonly viewsFresh?: boolean } = {}): this {
    this.settle();
    if (now < this.now) throw new Error(`database time ${now} is behind the chain's ${this.now}`);
    if (this.options.isRebuilt === true) this.rebuild();
    this.now = now;
    this.last = this.decide(deepFreeze(input), now, more.viewsFresh ?? false);
    this.unread =
      this.last.refresh === undefined || more.viewsFresh === true
        ? null
        : outcomeOf(() => this.decide(input, now, true));
    this.lastAccepted = this.last.records.map((record) => this.accept(record));
    return this;
  }

  /** Feeds the timers of every row that is due at `now`, in order of dueAt, until none is left. */
  whenDue(now: number): this {
    this.settle();
    const all: AcceptedRecord[] = [];
    for (let guard = 0; ; guard += 1) {
      const [row] = this.state.due(now);
      if (row === undefined) break;
      if (guard > 10_000) throw new Error(`timer ${row.kind}/${row.group}/${row.key} stays due`);
      this.when(timerOf(row), now);
      this.settle();
      all.push(...this.lastAccepted);
    }
    this.last = { records: all.map(({ type, body }) => ({ type, body })) };
    this.lastAccepted = all;
    return this;
  }

  /** Exactly these records came, in order; bodies are compared on the named fields. */
  then(...expected: readonly Decided[]): this {
    this.settle();
    const actual = this.last.records;
    if (this.last.park !== undefined) throw new Error(`parked: ${this.last.park.reason} (${this.last.park.detail})`);
    if (this.last.refresh !== undefined) throw new Error(`asks for a refresh of ${this.last.refresh.join(', ')}`);
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
    this.settle();
    return this.check(this.last.answer, expected, 'answer');
  }

  /** The input was parked with this code. */
  thenParked(reason: string): this {
    this.settle();
    return this.check(this.last.park, { reason }, 'park');
  }

  /** The core asks to read these views to their end first. */
  thenRefresh(...views: readonly string[]): this {
    this.unread = null;
    return this.check(this.last.refresh, views, 'refresh');
  }

  /** Messages the records of the last step send. */
  outgoing(): readonly Outgoing[] {
    this.settle();
    return this.lastAccepted.flatMap((record) => this.core.react(record));
  }

  /** Records of the derived log that follow from the records of the last step. */
  derived(): readonly Derived[] {
    this.settle();
    return this.lastAccepted.flatMap((record) => this.core.derived?.derive(record) ?? []);
  }

  /** Is the message still owed now? */
  owed(message: Outgoing, now = this.now): boolean {
    this.settle();
    return this.coldly(this.core.owedNeeds(message), (view) => this.core.owed(view, message, now));
  }

  /** Decision of the last step. */
  decision(): Decision {
    return this.last;
  }

  /** Records accepted so far. */
  records(): readonly AcceptedRecord[] {
    this.settle();
    return this.accepted;
  }

  /** Records accepted in the last step. */
  recorded(): readonly AcceptedRecord[] {
    this.settle();
    return this.lastAccepted;
  }

  /** Rows that a record of this scenario changed, as they were and as they are. */
  changedBy(record: AcceptedRecord): readonly ChangedRow[] {
    this.settle();
    return this.changed.get(record) ?? [];
  }

  /** Rows, of one kind or of all, ordered by kind, group and key. */
  rows(kind?: string): readonly Row[] {
    this.settle();
    return this.state.all().filter((row) => kind === undefined || row.kind === kind);
  }

  /** The timer that is set on a row. Errors: throws when there is none. */
  timer(kind: string, key: string): TimerInput {
    const row = this.rows(kind).find((one) => one.key === key && one.dueAt !== null);
    if (row === undefined) throw new Error(`no timer on ${kind}/${key}`);
    return timerOf(row);
  }

  /** Takes what was decided with fresh views: those of a spec are whole as they are. */
  private settle(): void {
    if (this.unread === null) return;
    const decided = this.unread;
    this.unread = null;
    this.last = decided();
    if (this.last.refresh !== undefined)
      throw new Error(`asked for fresh views twice: ${this.last.refresh.join(', ')}`);
    this.lastAccepted = this.last.records.map((record) => this.accept(record));
  }

  private decide(input: Input, now: number, viewsFresh: boolean): Decision {
    const needs = this.core.needs(input, { view: (name) => this.viewNamed(name) });
    const decision = deepFreeze(
      this.coldly(needs, (state) => this.core.decide(this.context(state, now, viewsFresh), input)),
    );
    if (decision.refresh !== undefined && decision.records.length > 0) throw new Error('a refresh carries no records');
    return decision;
  }

  private context(state: StateView, now: number, viewsFresh: boolean): DecideContext {
    const views: Views = { view: (name) => this.viewNamed(name) };
    return { state, views, now, viewsFresh, partition: this.options.partition ?? 0 };
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
    const changes = this.coldly([], (state) => this.core.evolve(state, record));
    this.changed.set(record, this.state.apply(deepFreeze(changes)));
  }

  private rebuild(): void {
    const before = shown(this.state.all());
    this.state = new RowStore(this.core.kinds);
    for (const record of this.accepted) this.evolve(record);
    if (shown(this.state.all()) !== before)
      throw new Error(`rebuilt rows differ\nbefore  ${before}\nrebuilt ${shown(this.state.all())}`);
  }

  /** Calls with cold groups until all that is read has been loaded. */
  private coldly<T>(needs: readonly Pick<RowAddress, 'kind' | 'group'>[], call: (state: StateView) => T): T {
    const loaded = new Set(needs.map(({ kind, group }) => `${kind}/${group}`));
    for (;;) {
      try {
        return call(this.state.view(loaded));
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error;
        loaded.add(`${error.kind}/${error.group}`);
      }
    }
  }

  private check(actual: unknown, expected: unknown, path: string): this {
    const problem = mismatch(actual, expected, path);
    if (problem !== null) throw new Error(`${problem}\ndecision ${shown(this.last)}`);
    return this;
  }
}

/** Makes the call now, and gives or throws what came of it as often as it is asked. */
function outcomeOf<T>(call: () => T): () => T {
  try {
    const value = call();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
