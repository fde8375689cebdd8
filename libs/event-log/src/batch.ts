// Decides one batch: from waiting items and due timers to sealed records and changes. Synchronous and without I/O.
//
// Boundary: asks the core; adds what every service shares (Progress, commands answered once, parking). What is not in memory
// it says in one Lacks, for the rest of the batch as well, and goes on where it stopped once that is loaded.
//
// Invariants
//   I1. Progress comes before what is decided on the items it names, and names exactly those that were taken (L3).
//   I2. A decision is in the batch whole or not at all (L4).
//   I3. A command is answered exactly once; the same id with other content is a recorded conflict (L9, L12).
//   I4. A probe only collects: nothing it decides is kept.
import { sha256 } from '@recourse/chain';
import {
  Failure,
  findStorageProblem,
  InvariantViolation,
  partitionForKey,
  WIRE_RECORD_BYTES_MAX,
} from '@recourse/kernel';
import { unreadIn, verifyCommand } from './command-signature.js';
import { COMMAND_KIND, LOOP_COMMANDS, READING_COMMAND, evolveAny } from './fold.js';
import type { QueueItem } from './queue-item.js';
import { Lacking, Lacks } from './lacks.js';
import type { RecordPlace } from './lacks.js';
import type { OwedAgain } from './obligations.js';
import type { BatchSealer } from './own-log.js';
import {
  BATCH_UNREADABLE,
  BEHIND,
  findProblem,
  FOREIGN_PARTITION,
  parkedRecord,
  parkingKey,
  REDIRECTED,
  redirectedRecord,
  senderOf,
  signatureOf,
  speakerIn,
  speakerOfParked,
  subjectOf,
  tenantOf,
  TOO_LARGE,
  PARKED_BYTES_MAX,
} from './parking.decisions.js';
import { orderOf } from './parking-order.decisions.js';
import type { ParkedOrigin, PlacedDecided, Problem } from './parking.decisions.js';
import { decideParkedCommand, isHeldUp } from './parking.decider.js';
import { decideReading } from './reading.decider.js';
import { goTogether, refusedRecord, SPEAKER_MISMATCH } from './refusals.js';
import type { RefusedItem } from './refusals.js';
import type { Overlay } from './row-cache.js';
import type { BatchSealing, Sealing } from './sealing/sealing.js';
import { OpenedState } from './sealing/sealing.js';
import { membersOf } from './sealing/payload-walk.js';
import { speakerProblem } from '@recourse/messages';
import type {
  AcceptedRecord,
  CommandAnswer,
  DecideContext,
  Decided,
  Decision,
  Doc,
  Input,
  InputSpec,
  Owns,
  RecordInput,
  SealScope,
  ServiceCore,
  StateView,
  TimerInput,
  Views,
} from './service-core.js';
import type { StoredCursor } from './store.port.js';

const newer = (at: string): string =>
  `it says ${at}, of which this build reads nothing: its edge is newer; redrive it once this service is, too`;
const UNSIGNED = 'the envelope does not carry the signature of an edge of ours';
const PROGRESS_KEY = 'progress';
/** The answer to a command about parked records, with room to spare. */
const ANSWER_BYTES_MAX = 16_384;
const NO_HASH = Buffer.alloc(32);

export interface BatchMaterial {
  readonly items: readonly QueueItem[];
  /** Cursors that moved earlier without a record (L3). */
  readonly passed: readonly StoredCursor[];
  readonly timers: readonly TimerInput[];
  /** Messages that may not have been sent: those that are still owed are sent again (L10). */
  readonly resends: readonly OwedAgain[];
  readonly reactedSeq: number;
  /** Items under one Progress: when the batch is full, the part under way is taken back and those before it stand. */
  readonly partItems: number;
}

export interface BatchContext {
  readonly core: ServiceCore;
  readonly partition: number;
  readonly partitionCountOf: (topic: string) => number;
  readonly owns: Owns;
  readonly views: Pick<Views, 'view'>;
  readonly now: number;
  /** null: the stack runs without edge signatures. */
  readonly edgeKey: Buffer | null;
  readonly fullNameOf: (topic: string, type: string) => string;
  /** Seals what is recorded and opens what is decided upon; null where the stack runs without. */
  readonly sealing: { readonly vault: Sealing; readonly batch: BatchSealing } | null;
  /** Reads a parked record again for a redrive. */
  readonly reread: (origin: ParkedOrigin) => RecordInput | null;
  /** Bytes that a log holds at a place now; null where it holds none. */
  readonly original: (place: RecordPlace) => Buffer | null;
}

/** `input`: what could not be decided; null for what is no input. `lacks`: of it and of all that come after it. */
export type BatchResult =
  DecidedBatch | OverfullBatch | { readonly kind: 'lacks'; readonly lacks: Lacks; readonly input: Input | null };

export interface DecidedBatch {
  readonly kind: 'batch';
  /** Items of the material that it holds: the first ones. */
  readonly taken: number;
  /** Records beside Progress. */
  readonly decided: number;
  readonly timersWithoutEffect: readonly TimerInput[];
  /** Timers whose decider threw: nothing of them is in the batch. */
  readonly failedTimers: readonly FailedTimer[];
  /** What deciders threw at records that are parked for it, by the place of the record. */
  readonly thrown: ReadonlyMap<string, unknown>;
  /** Resends of the material that nobody is owed any more. */
  readonly owedNoMore: readonly OwedAgain[];
  /** Changes made up to each record of the batch, it included. */
  readonly ends: readonly number[];
}

/** Names the place of a record. */
export function placeName(topic: string, partition: number, offset: number): string {
  return `${topic}/${String(partition)}/${String(offset)}`;
}

export interface FailedTimer {
  readonly timer: TimerInput;
  readonly cause: unknown;
}

/** What does not even fit in its first part: fewer items are to be taken. */
export interface OverfullBatch {
  readonly kind: 'overfull';
  readonly take: number;
  /** Timers that fit, when the timers alone are too much. */
  readonly timers?: number;
}

interface Mark {
  readonly sealed: ReturnType<BatchSealer['mark']>;
  readonly changes: number;
  readonly decided: number;
}

/** Where a part of the batch begins: the items before it, and how to take it back. */
interface PartStart {
  readonly taken: number;
  readonly mark: Mark;
}

interface Step {
  readonly run: () => OverfullBatch | null;
  readonly probe: (probe: Probe) => void;
  readonly input?: Input;
}

/** A scratch state over which the rest of a batch is looked through. */
interface Probe {
  readonly rows: Overlay;
  readonly views: Views;
  readonly lacks: Lacks;
}

/**
 * Decides a batch into `sealer` and `overlay`; both are the caller's to drop when it will not be appended.
 *
 * Shape:  `run` again once what it lacks is loaded: what was decided before it stands, the decision that lacked is made anew.
 * Errors: InvariantViolation of scope `partition`; Failure(KEY_STORE_UNAVAILABLE); everything else a decider throws parks the key
 *         of its record, or puts its timer off.
 */
export class BatchRun {
  #decided = 0;
  #viewsAreFresh = false;
  #next = 0;
  readonly #steps: readonly Step[];
  readonly #views: Views;
  readonly #timersWithoutEffect: TimerInput[] = [];
  readonly #failedTimers: FailedTimer[] = [];
  readonly #thrown = new Map<string, unknown>();
  readonly #owedNoMore: OwedAgain[] = [];
  readonly #ends: number[] = [];
  /** The last part; null while the first is decided. */
  #part: PartStart | null = null;

  constructor(
    private readonly context: BatchContext,
    private readonly material: BatchMaterial,
    private readonly overlay: Overlay,
    private readonly sealer: BatchSealer,
  ) {
    this.#views = {
      view: (name) => context.views.view(name),
      readToEnd: () => {
        if (!this.#viewsAreFresh) throw new Lacking({ views: true });
      },
    };
    this.#steps = [...this.#firstSteps(), ...this.#itemSteps()];
  }

  /** Decides what is left. `viewsAreFresh`: the views were read to their end since the batch was taken. */
  run({ viewsAreFresh = false } = {}): BatchResult {
    this.#viewsAreFresh ||= viewsAreFresh;
    for (let step = this.#steps[this.#next]; step !== undefined; step = this.#steps[this.#next]) {
      const mark = this.#mark();
      try {
        const end = step.run();
        if (end !== null) return this.#part === null ? end : this.#upTo(this.#part);
      } catch (cause) {
        this.#rollback(mark);
        if (!(cause instanceof Lacking)) throw cause;
        return { kind: 'lacks', lacks: this.#probeRest(new Lacks().add(cause.lack)), input: step.input ?? null };
      }
      this.#next += 1;
    }
    return this.#batchOf(this.material.items.length);
  }

  #upTo({ taken, mark }: PartStart): DecidedBatch {
    this.#rollback(mark);
    return this.#batchOf(taken);
  }

  #batchOf(taken: number): DecidedBatch {
    return {
      kind: 'batch',
      taken,
      decided: this.#decided,
      timersWithoutEffect: this.#timersWithoutEffect,
      failedTimers: this.#failedTimers,
      thrown: this.#thrown,
      owedNoMore: this.#owedNoMore,
      ends: this.#ends.slice(0, this.sealer.accepted.length),
    };
  }

  // Steps ---------------------------------------------------------------------------------------------------------------

  /** The Progress of the first part, and what waits for no input. */
  #firstSteps(): readonly Step[] {
    const { resends, timers, passed, items, partItems } = this.material;
    return [
      { run: () => this.#progress(newestCursors(passed, items.slice(0, partItems))), probe: () => undefined },
      ...resends.map((again) => ({
        run: () => this.#resend(again),
        probe: ({ rows }: Probe) => void this.#isOwed(again, rows),
      })),
      ...timers.map((timer, index) => ({
        input: timer,
        run: () => this.#timerStep(timer, index),
        probe: (probe: Probe) => {
          if (probe.rows.row(timer.address) !== undefined) this.#probeInput(timer, probe);
        },
      })),
    ];
  }

  #itemSteps(): readonly Step[] {
    const { items, partItems } = this.material;
    return items.flatMap((item, index) => {
      const step: Step = {
        run: () => this.#itemStep(item, index),
        probe: (probe) => {
          this.#probeItem(item, probe);
        },
        ...(item.what.kind === 'record' ? { input: item.what.input } : {}),
      };
      if (index === 0 || index % partItems > 0) return [step];
      return [{ run: () => this.#nextPart(index), probe: () => undefined }, step];
    });
  }

  // What is taken -------------------------------------------------------------------------------------------------------

  #nextPart(taken: number): null {
    this.#part = { taken, mark: this.#mark() };
    const { items, partItems } = this.material;
    return this.#progress(newestCursors([], items.slice(taken, taken + partItems)));
  }

  #progress(cursors: readonly StoredCursor[]): null {
    this.#append({ type: 'Progress', body: { cursors, reacted_seq: this.material.reactedSeq } }, PROGRESS_KEY);
    return null;
  }

  #isOwed({ message }: OwedAgain, rows: Overlay): boolean {
    return 'value' in message || this.context.core.owed(rows, message, this.context.now);
  }

  #resend(again: OwedAgain): null {
    const { message, resend } = again;
    if (!this.#isOwed(again, this.overlay)) this.#owedNoMore.push(again);
    else
      this.#record(
        { type: 'ObligationResent', body: { obligation_id: message.obligationId, resend } },
        message.obligationId,
      );
    return null;
  }

  #timerStep(timer: TimerInput, index: number): OverfullBatch | null {
    const before = this.#decided;
    const cause = this.#failureOf(() => {
      this.#timer(timer);
    });
    if (this.sealer.isOverfull) return { kind: 'overfull', take: 0, timers: index };
    if (cause !== undefined) this.#failedTimers.push({ timer, cause });
    else if (this.#decided === before) this.#timersWithoutEffect.push(timer);
    return null;
  }

  #itemStep(item: QueueItem, index: number): OverfullBatch | null {
    this.#item(item, index);
    return this.sealer.isOverfull ? { kind: 'overfull', take: index } : null;
  }

  #item({ what }: QueueItem, index: number): void {
    if (what.kind === 'skip') return;
    if (what.kind === 'refused') {
      this.#refuse(index);
      return;
    }
    const { topic, partition } = what.kind === 'bad' ? what : what.input;
    const told =
      what.kind === 'bad'
        ? { tenant: null, subject: null }
        : { tenant: tenantOf(what.input.body), subject: subjectOf(what.input.body) };
    const origin = { topic, partition, ...what.raw, ...told };
    const problem = this.#problemOf(what, origin);
    if (problem !== null) {
      if (problem.reason === FOREIGN_PARTITION && what.kind === 'record') this.#setAside(what, origin, problem);
      else this.#park(origin, problem);
      return;
    }
    if (what.kind === 'bad') return;
    const mark = this.#mark();
    const cause = this.#failureOf(() => {
      this.#input(what.input, origin);
    });
    if (cause !== undefined) {
      this.#thrown.set(placeName(topic, partition, origin.offset), cause);
      this.#park(origin, { reason: 'DECIDER_FAILED', detail: messageOf(cause) });
    }
    if (!this.sealer.isOverfull || !isAlone(mark)) return;
    this.#rollback(mark);
    this.#park(origin, TOO_LARGE);
  }

  /** One record for refusals that follow each other, where the last of them in a part is taken. */
  #refuse(index: number): void {
    const { items, partItems } = this.material;
    const refusalAt = (at: number): RefusedItem | null => {
      const what = items[at]?.what;
      return what?.kind === 'refused' && Math.floor(at / partItems) === Math.floor(index / partItems) ? what : null;
    };
    const last = refusalAt(index);
    if (last === null) return;
    const next = refusalAt(index + 1);
    if (next !== null && goTogether(last, next)) return;
    const run: [RefusedItem, ...RefusedItem[]] = [last];
    for (let before = refusalAt(index - run.length); before !== null && goTogether(before, run[0]);) {
      run.unshift(before);
      before = refusalAt(index - run.length);
    }
    this.#place(refusedRecord(run));
  }

  /** Why an item is set aside before anything is decided; null when it is not. */
  #problemOf(what: Exclude<QueueItem['what'], { kind: 'skip' | 'refused' }>, origin: ParkedOrigin): Problem | null {
    const isTooLarge = what.kind === 'record' && what.input.source === 'wire' && sizeOf(origin) > WIRE_RECORD_BYTES_MAX;
    // What belongs elsewhere waits behind nothing here: it goes back to its wire, whatever becomes of those before it.
    if (what.kind === 'record' && !isTooLarge && !this.#isAtHome(what.input))
      return { reason: FOREIGN_PARTITION, detail: 'it was sent to the partition of its key, and came here again' };
    if (isHeldUp(this.overlay, parkingKey(origin), orderOf(origin.tenant ?? null, speakerIn(origin))))
      return { reason: BEHIND, detail: 'an earlier record of this key is parked' };
    if (what.kind === 'bad') return what;
    if (what.input.source !== 'wire') return null;
    if (isTooLarge)
      return { reason: 'RECORD_TOO_LARGE', detail: `a wire record may have ${WIRE_RECORD_BYTES_MAX} bytes` };
    return findProblem(what.input.key, what.input.body);
  }

  /** A key that cannot be stored has no home: it is parked where it lies. */
  #isAtHome({ source, topic, key, partition }: RecordInput): boolean {
    return source !== 'wire' || findStorageProblem(key, {}) !== null || this.#homeOf(topic, key) === partition;
  }

  #homeOf(topic: string, key: string): number {
    return partitionForKey(key, this.context.partitionCountOf(topic));
  }

  /** Sends a record to the partition of its key, once: what comes back waits for a person. */
  #setAside(
    { input, raw }: Extract<QueueItem['what'], { kind: 'record' }>,
    origin: ParkedOrigin,
    problem: Problem,
  ): void {
    const value = origin.value ?? Buffer.alloc(0);
    const signature = signatureOf(origin);
    // What is handed on without the signature of its sender would be signed, and believed, as ours.
    if (REDIRECTED in raw.headers || (origin.voucher !== undefined && signature === null)) {
      this.#park(origin, problem);
      return;
    }
    const { key, topic } = input;
    const sealed = this.#sealed(value, key, origin);
    const valueSha256 = sha256(value);
    const bytes = { value: sealed.value, valueSha256, keyId: sealed.keyId, signature };
    this.#place(
      redirectedRecord({ origin, key, to: this.#homeOf(topic, key), producer: senderOf(input.body), ...bytes }),
    );
  }

  #place({ decided, key }: PlacedDecided): void {
    this.#record(decided, key);
  }

  #input(input: RecordInput, origin: ParkedOrigin): void {
    if (LOOP_COMMANDS.has(input.type) && input.body.log !== this.context.core.log) return;
    const problem = isCommand(input) ? this.#command(input) : this.#plain(input);
    if (problem !== null) this.#park(origin, problem);
  }

  #plain(input: RecordInput): Problem | null {
    const { records, park } = this.#ask(input);
    if (park !== undefined) return park;
    this.#recordAll(records);
    return null;
  }

  #timer(timer: TimerInput): void {
    if (this.overlay.row(timer.address)?.dueAt !== timer.dueAt) return;
    this.#recordAll(this.#ask(timer).records);
  }

  #ask(input: Input): Decision {
    const { decided, lacked } = this.#deciding(input, this.overlay, this.#views);
    if (lacked.length > 0) throw new Lacking({ keys: lacked });
    return decided;
  }

  /** Only what a log holds is sealed: what a wire says is sealed is parked, since it could name a key of anybody's. */
  #deciding(
    input: Input,
    rows: StateView,
    views: Views,
  ): { readonly decided: Decision; readonly lacked: readonly string[] } {
    const { core, sealing } = this.context;
    if (sealing === null) return { decided: core.decide(this.#decideContext(rows, views), input), lacked: [] };
    const { vault } = sealing;
    const context = this.#decideContext(new OpenedState(rows, vault), views);
    const opened = input.source === 'log' ? { ...input, body: vault.openOnUse(input.body) } : input;
    return vault.using(() => core.decide(context, opened));
  }

  #decideContext(state: StateView, views: Views): DecideContext {
    const { core, now, partition, partitionCountOf, owns } = this.context;
    return { state, views, now, partition, partitions: partitionCountOf(core.log), owns };
  }

  // Commands ------------------------------------------------------------------------------------------------------------

  #command(input: RecordInput): Problem | null {
    const envelope = input.body.envelope as Doc;
    const unsigned = this.#signatureProblem(input, envelope);
    if (unsigned !== null) return unsigned;
    if (this.#answeredBefore(envelope)) return null;
    if (LOOP_COMMANDS.has(input.type)) {
      this.#answer(
        envelope,
        input.type === READING_COMMAND ? this.#aboutReading(input, envelope) : this.#aboutParked(input, envelope),
      );
      return null;
    }
    const { records, answer, park } = this.#ask(input);
    if (park !== undefined) return park;
    if (answer === undefined) throw new InvariantViolation('command', `${input.type} was not answered`);
    this.#recordAll(records);
    this.#answer(envelope, answer);
    return null;
  }

  #signatureProblem(input: RecordInput, envelope: Doc): Problem | null {
    const { edgeKey, fullNameOf } = this.context;
    if (edgeKey === null) return null;
    const signature = envelope.signature as Buffer;
    if (signature.length === 0) return { reason: 'COMMAND_UNSIGNED', detail: UNSIGNED };
    const body = (input.asWritten?.() ?? input.body) as Doc; // what a decoder makes of a record
    const command = { topic: input.topic, type: fullNameOf(input.topic, input.type), body };
    if (!verifyCommand(edgeKey, command, signature)) return { reason: 'COMMAND_SIGNATURE_INVALID', detail: UNSIGNED };
    const unread = unreadIn(body, input.body);
    return unread === null ? null : { reason: 'COMMAND_NEWER', detail: newer(unread) };
  }

  /** Same id, same body: nothing more. Other body: a conflict on record, under an id of its own. */
  #answeredBefore({ command_id, body_sha256 }: Doc): boolean {
    const id = String(command_id);
    const standing = this.overlay.get(COMMAND_KIND, id, id);
    if (standing === undefined) return false;
    const hex = (body_sha256 as Buffer).toString('hex');
    const conflictId = `${id}#${hex.slice(0, 16)}`;
    if (standing.body_sha256 !== hex && this.overlay.get(COMMAND_KIND, conflictId, conflictId) === undefined)
      this.#answer({ command_id: conflictId, body_sha256 }, KEY_REUSED);
    return true;
  }

  #answer({ command_id, body_sha256 }: Doc, { status, httpStatus, code, body }: CommandAnswer): void {
    const fields = { command_id, body_sha256, status, http_status: httpStatus, code, answer: JSON.stringify(body) };
    this.#record({ type: 'CommandAnswered', body: fields }, String(command_id));
  }

  // Parking -------------------------------------------------------------------------------------------------------------

  #park(origin: ParkedOrigin, { reason, detail }: Problem): void {
    const { decided, key } = parkedRecord(origin, { reason, detail });
    const { value, keyId } = this.#sealed(decided.body.value, key, origin);
    this.#record({ type: decided.type, body: { ...decided.body, value, key_id: keyId } }, key);
  }

  /** Bytes of a wire as the log keeps them: erased with whose they are, where they say that. */
  #sealed(
    value: Buffer,
    key: string,
    { tenant, subject }: Pick<ParkedOrigin, 'tenant' | 'subject'>,
  ): { readonly value: Buffer; readonly keyId: string | null } {
    const { core, sealing } = this.context;
    const scope = { tenant: tenant ?? '', subject: (tenant ? subject : null) ?? `parked/${core.log}/${key}` };
    const sealed = sealing?.batch.sealBytes(value, scope);
    return sealed === undefined ? { value, keyId: null } : { value: sealed.body, keyId: sealed.keyId };
  }

  #aboutParked(input: RecordInput, envelope: Doc): CommandAnswer {
    const from = this.#mark();
    return decideParkedCommand(input, envelope, {
      state: this.overlay,
      redrive: (doc) => this.#redrive(doc),
      fitting: (about) => this.#fitting(from, about),
      record: (placed: PlacedDecided) => {
        this.#place(placed);
      },
    });
  }

  /** What is recorded about one parked record, taken back where no batch holds it: a command is answered, and never parked for it. */
  #fitting(from: Mark, about: () => Problem | null): Problem | null {
    const mark = this.#mark();
    const problem = about();
    // Beside others the command waits for a batch of its own.
    if (!isAlone(from) || this.sealer.hasRoomFor(ANSWER_BYTES_MAX)) return problem;
    this.#rollback(mark);
    return TOO_LARGE;
  }

  #aboutReading(input: RecordInput, envelope: Doc): CommandAnswer {
    const { record, answer } = decideReading(input, envelope);
    this.#record(record, String(envelope.command_id));
    return answer;
  }

  /** Takes a parked record again, as if it came now. Null: it was decided. */
  #redrive(doc: Doc): Problem | null {
    const isOfWire = this.#specOf(String(doc.topic))?.source !== 'log';
    if (isOfWire && isTruncated(doc))
      return {
        reason: 'PARKED_TRUNCATED',
        detail: 'it is longer than wires take, and only its first bytes were kept; have its source send less at a time',
      };
    if (this.#parkedValue(doc) === null) return PARKED_ERASED;
    if (doc.reason === FOREIGN_PARTITION) return this.#sendHome(doc);
    if (doc.reason === BATCH_UNREADABLE)
      return { reason: 'STILL_UNREADABLE', detail: 'these are no records; discard it, and have them sent again' };
    const key = Buffer.from(String(doc.record_key));
    const at = { topic: String(doc.topic), partition: Number(doc.partition), offset: Number(doc.offset) };
    const value = this.#wholeOf(doc, at);
    if (!Buffer.isBuffer(value)) return value;
    const input = this.context.reread({ ...at, key, value });
    if (input === null)
      return {
        reason: 'STILL_UNREADABLE',
        detail: 'the record can still not be decoded; discard it or register its schema',
      };
    const speaker = speakerOfParked(doc);
    const mismatch = speaker === undefined ? null : speakerProblem(speaker, input.type, input.body);
    if (mismatch !== null) return { reason: SPEAKER_MISMATCH, detail: mismatch };
    if (!this.#concerns(input)) return null;
    const problem = input.source === 'wire' ? findProblem(input.key, input.body) : null;
    return problem ?? this.#redriven(speaker === undefined ? input : { ...input, speaker });
  }

  /** What is another's to answer passes here, as it would have if it could have been read when it came. */
  #concerns(input: RecordInput): boolean {
    return this.#specOf(input.topic)?.concerns?.(input, this.context.owns) !== false;
  }

  #specOf(topic: string): InputSpec | undefined {
    return this.context.core.inputs.find((input) => input.topic === topic);
  }

  /** All bytes of a parked record, those that were not kept as its log holds them; or why there are none. */
  #wholeOf(doc: Doc, place: RecordPlace): Buffer | Problem {
    const kept = this.#parkedValue(doc);
    if (kept === null) return PARKED_ERASED;
    if (!isTruncated(doc)) return kept;
    const found = this.context.original(place);
    return found !== null && sha256(found).toString('hex') === doc.value_sha256
      ? found
      : { reason: 'PARKED_GONE', detail: 'only its first bytes were kept, and its log no longer holds it' };
  }

  #sendHome(doc: Doc): null {
    const [topic, key] = [String(doc.topic), String(doc.record_key)];
    const origin = { topic, partition: Number(doc.partition), offset: Number(doc.offset) };
    const keyId = typeof doc.key_id === 'string' ? doc.key_id : null;
    const valueSha256 = Buffer.from(String(doc.value_sha256), 'hex');
    const signature = typeof doc.signature === 'string' ? doc.signature : null;
    const bytes = { value: doc.value as Buffer, valueSha256, keyId, signature };
    this.#place(redirectedRecord({ origin, key, to: this.#homeOf(topic, key), producer: null, ...bytes }));
    return null;
  }

  /** The record's bytes; null when the key that sealed them was destroyed. */
  #parkedValue(doc: Doc): Buffer | null {
    const value = doc.value as Buffer;
    if (typeof doc.key_id !== 'string') return value;
    return this.context.sealing?.vault.openBytes(doc.key_id, value) ?? null;
  }

  /** A redrive makes no forgery true, and an answered command is answered once. */
  #redriven(input: RecordInput): Problem | null {
    const mark = this.#mark();
    try {
      const problem = isCommand(input) && !LOOP_COMMANDS.has(input.type) ? this.#command(input) : this.#plain(input);
      if (problem !== null) this.#rollback(mark);
      return problem;
    } catch (cause) {
      if (isSignal(cause)) throw cause;
      this.#rollback(mark);
      return { reason: 'STILL_FAILING', detail: messageOf(cause) };
    }
  }

  // Records -------------------------------------------------------------------------------------------------------------

  /** Runs a decision; what it throws takes its records back and is answered. */
  #failureOf(decide: () => void): unknown {
    const mark = this.#mark();
    try {
      decide();
      return undefined;
    } catch (cause) {
      if (isSignal(cause) || isLostKey(cause)) throw cause;
      this.#rollback(mark);
      return cause ?? new Error('a decider threw nothing');
    }
  }

  #mark(): Mark {
    return { sealed: this.sealer.mark(), changes: this.overlay.mark(), decided: this.#decided };
  }

  #rollback(mark: Mark): void {
    this.sealer.rollback(mark.sealed);
    this.overlay.rollback(mark.changes);
    this.#decided = mark.decided;
  }

  #recordAll(records: readonly Decided[]): void {
    for (const record of records) this.#record(record, this.context.core.keyOf(record));
  }

  #record(decided: Decided, key: string): void {
    this.#append(decided, key);
    this.#decided += 1;
  }

  #scopeOf(decided: Decided, key: string, state: StateView, member: Doc | null): SealScope {
    const { core } = this.context;
    return core.sealScope?.(decided, state, member) ?? { tenant: '', subject: `${core.log}/${key}` };
  }

  #append({ type, body }: Decided, key: string): void {
    const { core, sealing } = this.context;
    const scopeOf = (member: Doc | null): SealScope => this.#scopeOf({ type, body }, key, this.overlay, member);
    const accepted = this.sealer.add({ type, body: sealing === null ? body : sealing.batch.seal(body, scopeOf) }, key);
    this.overlay.apply(evolveAny(core, this.overlay, accepted));
    this.#ends[this.sealer.accepted.length - 1] = this.overlay.mark();
  }

  // What the rest lacks --------------------------------------------------------------------------------------------------

  /** Looks through what is left of the batch over rows that are not there: nothing it decides is kept. */
  #probeRest(lacks: Lacks): Lacks {
    const rows = this.overlay.probe(lacks);
    const views: Views = {
      view: (name) => this.context.views.view(name),
      readToEnd: () => {
        if (!this.#viewsAreFresh) lacks.add({ views: true });
      },
    };
    for (const step of this.#steps.slice(this.#next)) {
      try {
        step.probe({ rows, views, lacks });
      } catch (cause) {
        // Over rows that are not there a decider may object; what it lacks then is found when its turn comes.
        if (cause instanceof Lacking) lacks.add(cause.lack);
      }
    }
    return lacks;
  }

  #probeItem({ what }: QueueItem, probe: Probe): void {
    if (what.kind !== 'record' || LOOP_COMMANDS.has(what.input.type)) return;
    if (isCommand(what.input)) {
      const id = String((what.input.body.envelope as Doc).command_id);
      if (probe.rows.get(COMMAND_KIND, id, id) !== undefined) return;
    }
    this.#probeInput(what.input, probe);
  }

  #probeInput(input: Input, { rows, views, lacks }: Probe): void {
    const { core, now, sealing } = this.context;
    const { decided, lacked } = this.#deciding(input, rows, views);
    lacks.add({ keys: lacked });
    for (const record of decided.records) {
      if (sealing !== null) this.#foresee(record, { rows, lacks }, sealing.batch);
      const accepted: AcceptedRecord = { ...record, seq: 0, hash: NO_HASH, prevHash: NO_HASH, decidedAt: now };
      rows.apply(evolveAny(core, rows, accepted));
    }
  }

  /** Whose the payloads of a record will be, as far as the rows that are here tell; and which rows do. */
  #foresee(record: Decided, { rows, lacks }: Pick<Probe, 'rows' | 'lacks'>, batch: BatchSealing): void {
    const key = this.context.core.keyOf(record);
    const scopes = new Map<Doc | null, SealScope | null>();
    for (const member of [null, ...membersOf(record.body)]) {
      const known = lacks.rowCount;
      const scope = this.#scopeOf(record, key, rows, member);
      scopes.set(member, lacks.rowCount === known ? scope : null);
    }
    batch.foresee(record.body, (member) => scopes.get(member) ?? null);
  }
}

const PARKED_ERASED: Problem = {
  reason: 'PARKED_ERASED',
  detail: 'the key that sealed this record was destroyed; discard it',
};

const KEY_REUSED: CommandAnswer = {
  status: 'rejected',
  httpStatus: 422,
  code: 'IDEMPOTENCY_KEY_REUSED',
  body: {
    code: 'IDEMPOTENCY_KEY_REUSED',
    message: 'this idempotency key was used with another body; send a new key',
  },
};

/** Newest cursor of each input partition that moved. */
function newestCursors(passed: readonly StoredCursor[], items: readonly QueueItem[]): readonly StoredCursor[] {
  const moved = new Map<string, StoredCursor>();
  for (const cursor of [...passed, ...items.map((item) => item.cursor)])
    moved.set(`${cursor.topic}/${cursor.partition}`, cursor);
  return [...moved.values()];
}

function isCommand(input: RecordInput): boolean {
  return input.source === 'wire' && typeof input.body.envelope === 'object' && input.body.envelope !== null;
}

/** No record's fault: what needs the key waits until the store has it again. */
function isLostKey(cause: unknown): boolean {
  return cause instanceof Failure && cause.code === 'KEY_STORE_UNAVAILABLE';
}

function isSignal(cause: unknown): boolean {
  return cause instanceof Lacking || (cause instanceof InvariantViolation && cause.scope === 'partition');
}

/** Nothing but Progress stands before it: what does not fit here fits no batch. */
function isAlone({ sealed }: Mark): boolean {
  return sealed.count <= 1;
}

/** Only its first bytes were kept. */
function isTruncated({ value_bytes }: Doc): boolean {
  return Number(value_bytes) > PARKED_BYTES_MAX;
}

function sizeOf({ value }: ParkedOrigin): number {
  return value?.length ?? 0;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
