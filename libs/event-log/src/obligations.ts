// What accepted records owe the outside, between the log and the reactor (L3, L9, L10).
//
// Boundary: decides nothing. It holds back what may not leave yet, remembers what may not have left before a restart, and
// knows where in the log the oldest record stands whose messages are not confirmed.
//
// Invariants
//   O1. Nothing new leaves before the gate is open and everything that is owed again has left or is owed no more.
//   O2. The mark never passes a record with an unsent message.
import { SIGNATURE } from '@recourse/kafka';
import { deriveId } from '@recourse/kernel';
import type { OwnLog, PlacedRecord } from './own-log.js';
import { REDIRECTED } from './parking.decisions.js';
import type { RawMessage, Reaction, Reactor } from './reactor.js';
import type { AcceptedRecord, Outgoing, ServiceCore } from './service-core.js';
import type { ProjectedHead } from './store.port.js';

/** A message that may not have been sent, and how often it will have been sent again. */
export interface OwedAgain {
  readonly message: Outgoing | RawMessage;
  readonly resend: number;
}

/** Messages that are asked about at a time. */
const AGAIN_MAX = 100;

export class Obligations {
  #again: readonly OwedAgain[] = [];
  #held: Reaction[] = [];
  #recoveredSeq = 0;
  #isOpen = false;
  #reactedOffset = 0;
  #unreacted: { readonly seq: number; readonly offset: number; readonly decidedAt: number }[] = [];

  constructor(
    private readonly core: Pick<ServiceCore, 'react'>,
    private readonly reactor: Reactor,
    private readonly anotherReader: () => OwnLog,
  ) {}

  /** Begins anew at what the store knows. */
  reset(stored: ProjectedHead | null): void {
    this.#again = [];
    this.#held = [];
    this.#unreacted = [];
    this.#reactedOffset = stored?.reactedOffset ?? 0;
    this.reactor.reset(stored?.reactedSeq ?? 0);
  }

  /** Notes where accepted records stand, in order. */
  follow(records: readonly AcceptedRecord[], offset: number): void {
    for (const [index, record] of records.entries())
      this.#unreacted.push({ seq: record.seq, offset: offset + index, decidedAt: record.decidedAt });
    this.#advance();
  }

  /** The log itself says that everything up to a seq was sent. */
  confirm(seq: number): void {
    this.reactor.reset(seq);
  }

  /** Up to where messages have left, as the store keeps it. */
  mark(): { readonly reactedSeq: number; readonly reactedOffset: number } {
    this.#advance();
    return { reactedSeq: this.reactor.reactedSeq, reactedOffset: this.#unreacted[0]?.offset ?? this.#reactedOffset };
  }

  /** When the oldest record was decided that still owes something, epoch milliseconds; null when nothing is owed. */
  owedSince(): number | null {
    this.#advance();
    return this.#unreacted[0]?.decidedAt ?? null;
  }

  /** Messages of records whose sending nothing in the log confirms: owed again once the inputs are read. */
  async collect(stored: ProjectedHead | null, head: number): Promise<void> {
    const from = this.reactor.reactedSeq;
    this.#recoveredSeq = head;
    if (head > from) {
      const resent = new Map<string, number>();
      const owed: (Outgoing | RawMessage)[] = [];
      for (const record of await this.#recordsSince(from, stored)) {
        if (record.type === 'ObligationResent')
          resent.set(String(record.body.obligation_id), Number(record.body.resend));
        owed.push(...this.#messagesOf(record));
      }
      this.#again = owed.map((message) => ({ message, resend: (resent.get(message.obligationId) ?? 0) + 1 }));
    }
    this.#release();
  }

  /** Owed again: the first of them, for the loop to ask whether they still are. */
  again(): readonly OwedAgain[] {
    return this.#again.length === 0 ? this.#again : this.#again.slice(0, AGAIN_MAX);
  }

  /** These are owed no more. */
  drop(items: readonly OwedAgain[]): void {
    if (items.length === 0) return;
    this.#again = this.#again.filter((item) => !items.includes(item));
    this.#release();
  }

  /** These leave again: it is in the log. */
  sendAgain(items: readonly OwedAgain[]): void {
    if (items.length === 0) return;
    const resent = new Set(items.map(({ message }) => message));
    this.reactor.owe([{ seq: 0, messages: [...resent] }]);
    this.#again = this.#again.filter(({ message }) => !resent.has(message));
    this.#release();
  }

  /** Owes what accepted records lead to. */
  owe(records: readonly AcceptedRecord[]): void {
    const reactions = records.map((record): Reaction => ({ seq: record.seq, messages: this.#messagesOf(record) }));
    if (this.#isOpen && this.#again.length === 0) this.reactor.owe(reactions);
    else this.#held.push(...reactions);
  }

  open(): void {
    this.#isOpen = true;
    this.#release();
  }
  close(): void {
    this.#isOpen = false;
  }

  #release(): void {
    if (this.#again.length > 0) return;
    this.reactor.owe([{ seq: this.#recoveredSeq, messages: [] }]);
    if (!this.#isOpen) return;
    this.reactor.owe(this.#held);
    this.#held = [];
  }

  #messagesOf(record: AcceptedRecord): readonly (Outgoing | RawMessage)[] {
    return record.type === 'RecordRedirected' ? [redirectedMessage(record)] : this.core.react(record);
  }

  async #recordsSince(seq: number, stored: ProjectedHead | null): Promise<readonly PlacedRecord[]> {
    const log = this.anotherReader();
    const found: PlacedRecord[] = [];
    try {
      const first = this.#unreacted[0];
      const offset = first?.seq === seq + 1 ? first.offset : (stored?.reactedOffset ?? 0);
      const start = offset === 0 ? log.origin() : await log.positionBefore(offset);
      for await (const records of log.read(start))
        for (const record of records) if (record.seq > seq) found.push(record);
    } finally {
      await log.close();
    }
    return found;
  }

  #advance(): void {
    let count = 0;
    while ((this.#unreacted[count]?.seq ?? Infinity) <= this.reactor.reactedSeq) count += 1;
    if (count === 0) return;
    this.#reactedOffset = this.#unreacted[count - 1]?.offset ?? this.#reactedOffset;
    this.#unreacted = this.#unreacted.slice(count);
  }
}

/** What lay on another partition goes to that of its key. */
function redirectedMessage({ body }: AcceptedRecord): RawMessage {
  const { topic, partition, offset } = body;
  return {
    obligationId: deriveId('redirected', String(topic), Number(partition), Number(offset)),
    topic: String(topic),
    key: String(body.record_key),
    value: body.value as Buffer,
    keyId: typeof body.key_id === 'string' ? body.key_id : null,
    headers: {
      [REDIRECTED]: `${String(topic)}/${String(partition)}@${String(offset)}`,
      ...(typeof body.signature === 'string' ? { [SIGNATURE]: body.signature } : {}),
    },
  };
}
