// A lane: what goes to one partition of a wire, in order, one request at a time.
//
// Invariants
//   I1. One request in flight; what comes meanwhile goes together in the next, as far as it fits.
//   I2. What was acknowledged is not sent again because of what was not.
//   I3. What the broker refuses of a record fails its sender alone: what went with it goes without it.
import { Failure, systemClock } from '@recourse/kernel';
import type { OutgoingRecord } from '../kafka.port.js';
import { asFailure, refusalIn } from './failures.kafka.js';

/** Of what may pass. */
export const ATTEMPTS_MAX = 8;
const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 2_000;
/** Records of one request, octets: a broker that takes the largest record of a wire takes them together. */
const REQUEST_BYTES_MAX = 900_000;

/** What a broker refuses about records, and not about who sends them or where to. */
const OF_RECORDS: readonly (string | null)[] = [
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'POLICY_VIOLATION',
  'INVALID_TIMESTAMP',
];
const TOO_LARGE: readonly (string | null)[] = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];

/** Who waits for records that go to several partitions. */
export class Sending {
  private settled = false;

  constructor(
    private left: number,
    private readonly resolve: () => void,
    private readonly reject: (cause: Failure) => void,
  ) {
    this.settleAt(0);
  }

  /** Somebody was told already. */
  get isSettled(): boolean {
    return this.settled;
  }

  acknowledged(): void {
    this.settleAt(1);
  }

  failed(cause: Failure): void {
    if (this.settled) return;
    this.settled = true;
    this.reject(cause);
  }

  private settleAt(taken: number): void {
    this.left -= taken;
    if (this.left > 0 || this.settled) return;
    this.settled = true;
    this.resolve();
  }
}

/** One record and who waits for it. */
export interface Parcel {
  readonly record: OutgoingRecord;
  readonly sending: Sending;
}

/** What a lane needs of its producer. */
export interface LaneDoor {
  /** Topic and partition, as people read them. */
  readonly place: string;
  /** Makes one request. Errors: those of the client. */
  send(records: readonly OutgoingRecord[]): Promise<void>;
  /** Nobody tries again any more. */
  isClosed(): boolean;
}

export class Lane {
  private waiting: Parcel[] = [];
  private draining: Promise<void> | null = null;

  constructor(private readonly door: LaneDoor) {}

  push(parcels: readonly Parcel[]): void {
    for (const parcel of parcels) this.waiting.push(parcel);
    this.draining ??= this.drain();
  }

  /** Once nothing waits. */
  async rest(): Promise<void> {
    while (this.draining !== null) await this.draining;
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) await this.deliverAll(this.waiting.splice(0));
    // In the same turn as the last look: a send in between would wait for ever.
    this.draining = null;
  }

  /** What waited together fares together where the partition is refused: each request with tries of its own would last for ever. */
  private async deliverAll(round: readonly Parcel[]): Promise<void> {
    for (let at = 0; at < round.length;) {
      const count = fittingFrom(round, at);
      const failure = await this.deliver(round.slice(at, at + count));
      if (failure !== null) {
        // Those of this request, too: where it was cut in two, the second part was not sent.
        for (const { sending } of round.slice(at)) sending.failed(failure);
        return;
      }
      at += count;
    }
  }

  /** Null unless the partition is refused, whatever is sent there. */
  private async deliver(parcels: readonly Parcel[]): Promise<Failure | null> {
    // Who was told of a failure waits for nothing that is still here.
    const owed = parcels.filter(({ sending }) => !sending.isSettled);
    if (owed.length === 0) return null;
    const refused = await this.sendWithRetries(owed.map(({ record }) => record));
    if (refused === null) {
      for (const { sending } of owed) sending.acknowledged();
      return null;
    }
    if (refused.isOfRecords && owed.length > 1) {
      const half = Math.ceil(owed.length / 2);
      return (await this.deliver(owed.slice(0, half))) ?? this.deliver(owed.slice(half));
    }
    for (const { sending } of owed) sending.failed(refused.failure);
    return refused.isOfRecords ? null : refused.failure;
  }

  private async sendWithRetries(
    records: readonly OutgoingRecord[],
  ): Promise<{ readonly failure: Failure; readonly isOfRecords: boolean } | null> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.door.send(records);
        return null;
      } catch (error) {
        const refusal = refusalIn(error);
        const isOfRecords = OF_RECORDS.includes(refusal);
        const failure = TOO_LARGE.includes(refusal)
          ? tooLarge(this.door.place, records)
          : asFailure(error, this.door.place);
        const isLast = attempt === ATTEMPTS_MAX || this.door.isClosed();
        if (isOfRecords || isLast || failure.code !== 'BROKER_UNAVAILABLE') return { failure, isOfRecords };
      }
      await pauseAfter(attempt);
    }
  }
}

/** Waits before the next attempt, twice as long after each. */
export function pauseAfter(attempt: number): Promise<void> {
  return systemClock.sleep(Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
}

/** How many from one on fit into one request; one at the least. */
function fittingFrom(round: readonly Parcel[], from: number): number {
  let bytes = 0;
  let count = 0;
  for (const { record } of round.slice(from)) {
    bytes += bytesOf(record);
    if (count > 0 && bytes > REQUEST_BYTES_MAX) break;
    count += 1;
  }
  return count;
}

function tooLarge(place: string, records: readonly OutgoingRecord[]): Failure {
  const bytes = records.reduce((sum, record) => sum + bytesOf(record), 0);
  return new Failure('RECORD_TOO_LARGE', `${place}: the broker takes no record of ${String(bytes)} bytes`);
}

function bytesOf({ key, value, headers }: OutgoingRecord): number {
  const ofHeaders = Object.entries(headers ?? {}).reduce((sum, [name, one]) => sum + name.length + one.length, 0);
  return (key?.length ?? 0) + (value?.length ?? 0) + ofHeaders;
}
