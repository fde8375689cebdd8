// Decides one batch: from waiting items and due timers to sealed records and changes. Synchronous and without I/O.
//
// Boundary: asks the core; adds what every service shares (Progress, parking, commands answered once). What it cannot do
// without I/O (cold rows, stale views) it hands back as a wish, and goes on where it stopped when asked again.
//
// Invariants
//   I1. Progress comes first and names exactly the items that were taken (L3).
//   I2. A decision is in the batch whole or not at all (L4).
//   I3. A command is answered exactly once; the same id with other content is a recorded conflict (L9, L12).
import { Failure, InvariantViolation, partitionForKey } from '@recourse/kernel';
import { verifyCommand } from './command-signature.js';
import { COMMAND_KIND, PARKED_COMMANDS, PARKED_KIND } from './common-kinds.js';
import type { QueueItem } from './input-queue.js';
import type { BatchSealer } from './own-log.js';
import {
  blocksKey,
  findStorageProblem,
  parkedBody,
  parkingKey,
  PARKED_BYTES_MAX,
  WIRE_RECORD_BYTES_MAX,
} from './parking.decisions.js';
import type { ParkedOrigin } from './parking.decisions.js';
import type { Overlay } from './row-cache.js';
import { KeysNotLoaded } from './sealing/sealing.js';
import type { BatchSealing, Sealing } from './sealing/sealing.js';
import { OpenedState } from './sealing/opened-state.js';
import { NotLoaded } from './service-core.js';
import type {
  AcceptedRecord,
  Change,
  CommandAnswer,
  DecideContext,
  Decided,
  Decision,
  Doc,
  Input,
  Outgoing,
  RecordInput,
  SealScope,
  ServiceCore,
  TimerInput,
  Views,
} from './service-core.js';
import type { StoredCursor } from './store.port.js';

const UNSIGNED = 'the envelope does not carry the signature of an edge of ours';

/** Why a parked record is not decided again; null when it was. */
type Redriven = { readonly code: string; readonly message: string } | null;

export interface BatchMaterial {
  readonly items: readonly QueueItem[];
  /** Cursors that moved earlier without a record (L3). */
  readonly passed: readonly StoredCursor[];
  readonly timers: readonly TimerInput[];
  /** Messages that may not have been sent and are owed again (L10). */
  readonly resends: readonly { readonly message: Outgoing; readonly resend: number }[];
  readonly reactedSeq: number;
}

export interface BatchContext {
  readonly core: ServiceCore;
  readonly partition: number;
  readonly partitionCountOf: (topic: string) => number;
  readonly views: Views;
  readonly now: number;
  /** null: the stack runs without edge signatures. */
  readonly edgeKey: Buffer | null;
  readonly fullNameOf: (topic: string, type: string) => string;
  /** Seals what is recorded and opens what is decided upon; null where the stack runs without. */
  readonly sealing: { readonly vault: Sealing; readonly batch: BatchSealing } | null;
  /** Reads a parked record again for a redrive. */
  readonly reread: (origin: ParkedOrigin) => RecordInput | null;
}

export type BatchResult =
  | {
      readonly kind: 'batch';
      readonly decided: number;
      readonly timersWithoutEffect: readonly TimerInput[];
      readonly ends: readonly number[];
    }
  | { readonly kind: 'load'; readonly groups: readonly { readonly kind: string; readonly group: string }[] }
  | { readonly kind: 'keys'; readonly keyIds: readonly string[] }
  | { readonly kind: 'refresh'; readonly views: readonly string[] }
  | {
      readonly kind: 'overfull';
      readonly take: number;
      /** Timers that fit, when the timers alone are too much. */ readonly timers?: number;
    };

const PROGRESS_KEY = 'progress';

/** Thrown inside this file only: a view has to be read to its end first. */
class WantsRefresh extends Error {
  constructor(readonly views: readonly string[]) {
    super('refresh');
  }
}

interface Mark {
  readonly sealed: ReturnType<BatchSealer['mark']>;
  readonly changes: number;
  readonly decided: number;
}

/**
 * Decides a batch into `sealer` and `overlay`; both are the caller's to drop when it will not be appended.
 *
 * `run` again after a wish was granted: what was decided before it stands, the decision that wished is made anew.
 * Errors: InvariantViolation of scope `partition`; everything else a decider throws parks its key.
 */
export class BatchRun {
  #decided = 0;
  #viewsFresh = false;
  #next = 0;
  readonly #steps: readonly (() => BatchResult | null)[];
  readonly #timersWithoutEffect: TimerInput[] = [];
  /** Changes made up to each record of the batch, it included. */
  readonly #ends: number[] = [];

  constructor(
    private readonly context: BatchContext,
    private readonly material: BatchMaterial,
    private readonly overlay: Overlay,
    private readonly sealer: BatchSealer,
  ) {
    const { items, timers, resends } = material;
    this.#steps = [
      () => this.#progress(),
      ...resends.map((resend) => () => this.#resend(resend)),
      ...timers.map((timer, index) => () => this.#timerStep(timer, index)),
      ...items.map((item, index) => () => this.#itemStep(item, index)),
    ];
  }

  /** Decides what is left. After `refresh` call it with fresh views. */
  run(views: { readonly areFresh: boolean } = { areFresh: false }): BatchResult {
    if (views.areFresh) this.#viewsFresh = true;
    for (let step = this.#steps[this.#next]; step !== undefined; step = this.#steps[this.#next]) {
      const mark = this.#mark();
      try {
        const end = step();
        if (end !== null) return end;
      } catch (cause) {
        this.#rollback(mark);
        if (cause instanceof NotLoaded) return { kind: 'load', groups: [{ kind: cause.kind, group: cause.group }] };
        if (cause instanceof KeysNotLoaded) return { kind: 'keys', keyIds: cause.keyIds };
        if (cause instanceof WantsRefresh) return { kind: 'refresh', views: cause.views };
        throw cause;
      }
      this.#next += 1;
    }
    return { kind: 'batch', decided: this.#decided, timersWithoutEffect: this.#timersWithoutEffect, ends: this.#ends };
  }

  #progress(): null {
    const { items, passed, reactedSeq } = this.material;
    this.#append(
      { type: 'Progress', body: { cursors: cursorsOf(passed, items), reacted_seq: reactedSeq } },
      PROGRESS_KEY,
    );
    return null;
  }

  #resend({ message, resend }: BatchMaterial['resends'][number]): null {
    this.#record(
      { type: 'ObligationResent', body: { obligation_id: message.obligationId, resend } },
      message.obligationId,
    );
    return null;
  }

  #timerStep(timer: TimerInput, index: number): BatchResult | null {
    const before = this.#decided;
    this.#guarded(timer, () => {
      this.#timer(timer);
    });
    if (this.sealer.isOverfull) return { kind: 'overfull', take: 0, timers: index };
    if (this.#decided === before) this.#timersWithoutEffect.push(timer);
    return null;
  }

  #itemStep(item: QueueItem, index: number): BatchResult | null {
    this.#item(item);
    return this.sealer.isOverfull ? { kind: 'overfull', take: index } : null;
  }

  #item({ what }: QueueItem): void {
    if (what.kind === 'skip') return;
    const origin =
      what.kind === 'bad'
        ? { topic: what.topic, partition: what.partition, ...what.raw }
        : { topic: what.input.topic, partition: what.input.partition, ...what.raw };
    // What belongs elsewhere waits behind nothing here: it goes back to its wire, whatever becomes of those before it.
    const foreign = what.kind === 'bad' ? null : this.#refuseForeign(what.input);
    if (foreign !== null) {
      this.#park(origin, foreign.reason, foreign.detail);
      return;
    }
    if (this.#isHeldUp(parkingKey(origin))) {
      this.#park(origin, 'BEHIND', 'an earlier record of this key is parked');
      return;
    }
    if (what.kind === 'bad') {
      this.#park(origin, what.reason, what.detail);
      return;
    }
    const refusal = this.#refuseUnread(what.input, origin);
    if (refusal !== null) {
      this.#park(origin, refusal.reason, refusal.detail);
      return;
    }
    const mark = this.#mark();
    this.#guarded(
      what.input,
      () => {
        this.#input(what.input, origin);
      },
      origin,
    );
    if (!this.sealer.isOverfull || mark.sealed.count > 1) return;
    this.#rollback(mark);
    this.#park(origin, 'DECISION_TOO_LARGE', 'what this record leads to does not fit one batch');
  }

  /** What can be told before anything is decided. */
  #refuseUnread(input: RecordInput, origin: ParkedOrigin): { readonly reason: string; readonly detail: string } | null {
    if (input.source !== 'wire') return null;
    if ((origin.value?.length ?? 0) > WIRE_RECORD_BYTES_MAX)
      return { reason: 'RECORD_TOO_LARGE', detail: `a wire record may have ${WIRE_RECORD_BYTES_MAX} bytes` };
    const problem = findStorageProblem(input.key, input.body);
    if (problem !== null) return problem;
    return null;
  }

  #refuseForeign(input: RecordInput): { readonly reason: string; readonly detail: string } | null {
    if (input.source !== 'wire' || findStorageProblem(input.key, {}) !== null) return null;
    const partition = partitionForKey(input.key, this.context.partitionCountOf(input.topic));
    return partition === input.partition
      ? null
      : {
          reason: 'FOREIGN_PARTITION',
          detail: `the key belongs on partition ${partition} (murmur2); librdkafka needs partitioner=murmur2_random`,
        };
  }

  #input(input: RecordInput, origin: ParkedOrigin): void {
    if (isAboutParked(input) && input.body.log !== this.context.core.log) return;
    if (isCommand(input)) {
      this.#command(input, origin);
      return;
    }
    const decision = this.#ask(input);
    if (decision.park !== undefined) {
      this.#park(origin, decision.park.reason, decision.park.detail);
      return;
    }
    this.#recordAll(decision.records);
  }

  #timer(timer: TimerInput): void {
    if (this.overlay.row(timer.address)?.dueAt !== timer.dueAt) return;
    this.#recordAll(this.#ask(timer).records);
  }

  #ask(input: Input): Decision {
    const { core, views, now, partition, sealing } = this.context;
    const viewsFresh = this.#viewsFresh;
    const state = sealing === null ? this.overlay : new OpenedState(this.overlay, sealing.vault);
    const context: DecideContext = { state, views, viewsFresh, now, partition };
    const decision = core.decide(context, this.#opened(input));
    if (decision.refresh !== undefined && decision.refresh.length > 0) {
      if (viewsFresh) throw new InvariantViolation('decide', 'asked for a fresh view twice');
      throw new WantsRefresh(decision.refresh);
    }
    return decision;
  }

  /** Only logs are believed when they say that something is sealed: a wire could name a key of anybody's. */
  #opened(input: Input): Input {
    const { sealing } = this.context;
    return sealing === null || input.source !== 'log' ? input : { ...input, body: sealing.vault.open(input.body) };
  }

  // Commands -----------------------------------------------------------------------------------------------------------

  #command(input: RecordInput, origin: ParkedOrigin): void {
    const envelope = input.body.envelope as Doc;
    const unsigned = this.#signatureProblem(input, envelope);
    if (unsigned !== null) {
      this.#park(origin, unsigned, UNSIGNED);
      return;
    }
    const id = String(envelope.command_id);
    const bodyHash = envelope.body_sha256 as Buffer;
    const standing = this.overlay.get(COMMAND_KIND, id, id);
    if (standing !== undefined) {
      this.#repeated(id, bodyHash, standing);
      return;
    }
    const decision = isAboutParked(input) ? this.#aboutParked(input, envelope) : this.#ask(input);
    if (decision.park !== undefined) {
      this.#park(origin, decision.park.reason, decision.park.detail);
      return;
    }
    if (decision.answer === undefined) throw new InvariantViolation('command', `${input.type} was not answered`);
    this.#recordAll(decision.records);
    this.#answer(id, bodyHash, decision.answer);
  }

  #signatureProblem(input: RecordInput, envelope: Doc): string | null {
    const { edgeKey, fullNameOf } = this.context;
    if (edgeKey === null) return null;
    const signature = envelope.signature as Buffer;
    if (signature.length === 0) return 'COMMAND_UNSIGNED';
    const command = { topic: input.topic, type: fullNameOf(input.topic, input.type), body: input.body };
    return verifyCommand(edgeKey, command, signature) ? null : 'COMMAND_SIGNATURE_INVALID';
  }

  /** Same id, same body: nothing. Other body: a conflict on record, under an id of its own. */
  #repeated(id: string, bodyHash: Buffer, standing: Doc): void {
    const hex = bodyHash.toString('hex');
    if (standing.body_sha256 === hex) return;
    const conflictId = `${id}#${hex.slice(0, 16)}`;
    if (this.overlay.get(COMMAND_KIND, conflictId, conflictId) !== undefined) return;
    this.#answer(conflictId, bodyHash, {
      status: 'rejected',
      httpStatus: 422,
      code: 'IDEMPOTENCY_KEY_REUSED',
      body: {
        code: 'IDEMPOTENCY_KEY_REUSED',
        message: 'this idempotency key was used with another body; send a new key',
      },
    });
  }

  #answer(id: string, bodyHash: Buffer, answer: CommandAnswer): void {
    this.#record(
      {
        type: 'CommandAnswered',
        body: {
          command_id: id,
          body_sha256: bodyHash,
          status: answer.status,
          http_status: answer.httpStatus,
          code: answer.code,
          answer: JSON.stringify(answer.body),
        },
      },
      id,
    );
  }

  // Parking ------------------------------------------------------------------------------------------------------------

  #isHeldUp(key: string): boolean {
    return this.overlay.list(PARKED_KIND, key).some((doc) => doc.open === true && blocksKey(String(doc.reason)));
  }

  #park(origin: ParkedOrigin, reason: string, detail: string): void {
    const body = parkedBody(origin, reason, detail);
    const key = parkingKey(origin);
    const sealed = this.context.sealing?.batch.sealBytes(body.value, {
      tenant: '',
      subject: `parked/${this.context.core.log}/${key}`,
    });
    this.#record(
      {
        type: 'RecordParked',
        body: sealed === undefined ? body : { ...body, value: sealed.body, key_id: sealed.keyId },
      },
      key,
    );
  }

  #aboutParked(input: RecordInput, envelope: Doc): Decision {
    const parkedId = String(input.body.parked_id);
    const roles = envelope.roles as readonly string[];
    const refuse = (httpStatus: number, code: string, message: string): Decision => ({
      records: [],
      answer: { status: 'rejected', httpStatus, code, body: { code, message, parked_id: parkedId } },
    });
    if (!roles.includes('administrator'))
      return refuse(403, 'ROLE_MISSING', "parked records are an administrator's to redrive or discard");
    const index = this.overlay.get(PARKED_KIND, `#${parkedId}`, parkedId);
    const parked = index === undefined ? undefined : this.overlay.get(PARKED_KIND, String(index.record_key), parkedId);
    if (parked?.open !== true)
      return refuse(404, 'PARKED_UNKNOWN', 'no open parked record of that id stands on this partition');
    const queue = this.overlay
      .list(PARKED_KIND, String(parked.record_key))
      .filter((doc) => doc.open === true)
      .sort((a, b) => Number(a.parked_seq) - Number(b.parked_seq));
    if (queue[0]?.parked_id !== parkedId)
      return refuse(409, 'PARKED_BEHIND', `redrive or discard ${String(queue[0]?.parked_id)} first`);
    const resolve = (doc: Doc, resolution: 'redriven' | 'discarded'): Decided => ({
      type: 'ParkedResolved',
      body: {
        parked_id: doc.parked_id,
        resolution,
        by: envelope.principal,
        reason: input.body.reason,
        command_id: envelope.command_id,
      },
    });
    const done: Decided[] = [];
    const following = input.type === 'DiscardParked' ? queue.slice(1).filter((doc) => doc.reason === 'BEHIND') : [];
    if (input.type === 'DiscardParked') this.#recordAll([resolve(parked, 'discarded')]);
    const again = input.type === 'RedriveParked' ? [parked, ...queue.slice(1)] : following;
    for (const doc of again) {
      const problem = this.#redrive(doc);
      if (problem !== null) {
        if (doc === parked) return refuse(409, problem.code, problem.message);
        break;
      }
      done.push(resolve(doc, 'redriven'));
      this.#recordAll([resolve(doc, 'redriven')]);
    }
    return {
      records: [],
      answer: { status: 'accepted', httpStatus: 200, code: null, body: { parked_id: parkedId, redriven: done.length } },
    };
  }

  /** The record's bytes; null when the key that sealed them was destroyed. */
  #parkedValue(doc: Doc): Buffer | null {
    const { key_id: keyId, value } = doc as { readonly key_id?: string | null; readonly value: Buffer };
    if (keyId === null || keyId === undefined) return value;
    return this.context.sealing?.vault.openBytes(keyId, value) ?? null;
  }

  /** Decides a parked record again, in place of its first time. A record of another partition goes back to its wire by reaction. */
  #redrive(doc: Doc): Redriven {
    if (Number(doc.value_bytes) > PARKED_BYTES_MAX)
      return {
        code: 'PARKED_TRUNCATED',
        message: 'only the first bytes of this record were kept; send it again from its source',
      };
    if (doc.reason === 'FOREIGN_PARTITION') return null;
    const value = this.#parkedValue(doc);
    if (value === null)
      return { code: 'PARKED_ERASED', message: 'the key that sealed this record was destroyed; discard it' };
    const input = this.context.reread({
      topic: String(doc.topic),
      partition: Number(doc.partition),
      offset: Number(doc.offset),
      key: Buffer.from(String(doc.record_key)),
      value,
    });
    if (input === null)
      return {
        code: 'STILL_UNREADABLE',
        message: 'the record can still not be decoded; discard it or register its schema',
      };
    const problem = input.source === 'wire' ? findStorageProblem(input.key, input.body) : null;
    if (problem !== null) return { code: problem.reason, message: problem.detail };
    return isCommand(input) ? this.#redriveCommand(input, input.body.envelope as Doc) : this.#redriven(input);
  }

  /** A redrive makes no forgery true, and an answered command is answered once. */
  #redriveCommand(input: RecordInput, envelope: Doc): Redriven {
    const unsigned = this.#signatureProblem(input, envelope);
    if (unsigned !== null) return { code: unsigned, message: UNSIGNED };
    const id = String(envelope.command_id);
    const standing = this.overlay.get(COMMAND_KIND, id, id);
    if (standing === undefined) return this.#redriven(input);
    this.#repeated(id, envelope.body_sha256 as Buffer, standing);
    return null;
  }

  #redriven(input: RecordInput): Redriven {
    const mark = this.#mark();
    try {
      const decision = this.#ask(input);
      if (decision.park !== undefined) {
        this.#rollback(mark);
        return { code: decision.park.reason, message: decision.park.detail };
      }
      this.#recordAll(decision.records);
      if (decision.answer !== undefined) {
        const envelope = input.body.envelope as Doc;
        this.#answer(String(envelope.command_id), envelope.body_sha256 as Buffer, decision.answer);
      }
      return null;
    } catch (cause) {
      if (isSignal(cause)) throw cause;
      this.#rollback(mark);
      return { code: 'STILL_FAILING', message: messageOf(cause) };
    }
  }

  // Records ------------------------------------------------------------------------------------------------------------

  /** Runs a decision; what it throws takes its records back and parks its key. */
  #guarded(input: Input, decide: () => void, origin?: ParkedOrigin): void {
    const mark = this.#mark();
    try {
      decide();
    } catch (cause) {
      if (isSignal(cause)) throw cause;
      this.#rollback(mark);
      if (origin !== undefined) this.#park(origin, 'DECIDER_FAILED', messageOf(cause));
      else if (input.source === 'timer')
        throw new Failure(
          'NOT_READY',
          `timer of ${input.address.kind}/${input.address.key} failed: ${messageOf(cause)}`,
          { cause },
        );
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

  #scopeOf(decided: Decided, key: string): SealScope {
    const { core } = this.context;
    return core.sealScope?.(decided, this.overlay) ?? { tenant: '', subject: `${core.log}/${key}` };
  }

  #append(decided: Decided, key: string): void {
    const { core, sealing } = this.context;
    const accepted = this.sealer.add(
      sealing === null
        ? decided
        : { type: decided.type, body: sealing.batch.seal(decided.body, () => this.#scopeOf(decided, key)) },
      key,
    );
    this.overlay.apply(evolveAny(core, this.overlay, accepted));
    this.#ends[this.sealer.accepted.length - 1] = this.overlay.mark();
  }
}

/** Changes of any record of a log: those every service has, and the core's own. */
export function evolveAny(core: ServiceCore, state: Overlay, record: AcceptedRecord): readonly Change[] {
  switch (record.type) {
    case 'Progress':
    case 'ObligationResent':
    case 'CutAccepted':
      return [];
    case 'RecordParked':
      return parkedChanges(record);
    case 'ParkedResolved':
      return resolvedChanges(state, record);
    case 'CommandAnswered': {
      const id = String(record.body.command_id);
      const doc = { ...record.body, body_sha256: (record.body.body_sha256 as Buffer).toString('hex') };
      return [{ op: 'put', row: { kind: COMMAND_KIND, group: id, key: id, dueAt: null, doc } }];
    }
    default:
      return core.evolve(state, record);
  }
}

/** Two rows: the record under its key, in order; and where to find it by id. */
function parkedChanges(record: AcceptedRecord): readonly Change[] {
  const id = String(record.body.parked_id);
  const key = String(record.body.record_key);
  const doc = {
    ...record.body,
    value_sha256: (record.body.value_sha256 as Buffer).toString('hex'),
    parked_seq: record.seq,
    parked_at: record.decidedAt,
    open: true,
  };
  const index = { parked_id: id, record_key: key, index_of: id };
  return [
    { op: 'put', row: { kind: PARKED_KIND, group: key, key: id, dueAt: null, doc } },
    { op: 'put', row: { kind: PARKED_KIND, group: `#${id}`, key: id, dueAt: null, doc: index } },
  ];
}

function resolvedChanges(state: Overlay, record: AcceptedRecord): readonly Change[] {
  const id = String(record.body.parked_id);
  const key = textOf(state.get(PARKED_KIND, `#${id}`, id)?.record_key);
  const doc = state.get(PARKED_KIND, key, id);
  if (doc === undefined) throw new InvariantViolation('parking', `${id} was resolved and never parked`, 'partition');
  const { resolution, by, reason } = record.body;
  return [
    {
      op: 'put',
      row: {
        kind: PARKED_KIND,
        group: key,
        key: id,
        dueAt: null,
        doc: { ...doc, open: false, resolution, resolved_by: by, resolved_reason: reason },
      },
    },
  ];
}

/** Newest cursor of each input partition that moved. */
function cursorsOf(passed: readonly StoredCursor[], items: readonly QueueItem[]): readonly StoredCursor[] {
  const moved = new Map<string, StoredCursor>();
  for (const cursor of [...passed, ...items.map((item) => item.cursor)])
    moved.set(`${cursor.topic}/${cursor.partition}`, cursor);
  return [...moved.values()];
}

function isCommand(input: RecordInput): boolean {
  return input.source === 'wire' && typeof input.body.envelope === 'object' && input.body.envelope !== null;
}
function isAboutParked(input: RecordInput): boolean {
  return PARKED_COMMANDS.has(input.type);
}
function isSignal(cause: unknown): boolean {
  return (
    cause instanceof NotLoaded ||
    cause instanceof KeysNotLoaded ||
    cause instanceof WantsRefresh ||
    (cause instanceof InvariantViolation && cause.scope === 'partition')
  );
}
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
