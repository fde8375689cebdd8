// Edge of commands: signs a request, puts it on the command wire, and answers when its outcome is projected (docs/design/edge.md).
//
// Invariants
//   E1. The id is derived from who asks, where and under which key: a repeated request is the same command.
//   E2. An answer is what the log recorded; the edge never answers from what it knows itself.
//   E3. Same id with another body: refused, whether the first one was answered before or after this one was published.
//   E4. What the loop would park is never sent: it would hold up the key it names, which may be somebody else's run.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { findProblem, signCommand } from '@recourse/event-log';
import type { CommandDoc, Doc, Row } from '@recourse/event-log';
import { within } from '@recourse/kafka';
import type { WireProducer } from '@recourse/kafka';
import { canonicalJson, deriveId, sha256Hex, systemClock, WIRE_RECORD_BYTES_MAX } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import type { Codecs, CommandEnvelope } from '@recourse/messages';
import { z } from 'zod';
import type { Principal } from './principal.js';
import { EdgeRefusal } from './problem.js';

/** A request that is to become a command. */
export interface Submission {
  /** Command wire. */
  readonly topic: string;
  /** Log in which the command is answered. */
  readonly log: string;
  /** Full record name, e.g. `recourse.recoveries.ApproveStep`. */
  readonly type: string;
  /** Record key. */
  readonly key: string;
  readonly principal: Principal;
  readonly tenant: string;
  /** Method and path with its values, e.g. `POST /v1/steps/step_1/approve`. */
  readonly route: string;
  /** As the caller sent it; without one the edge makes one, and the request cannot be repeated. */
  readonly idempotencyKey: string | undefined;
  /** What the caller asked for, as JSON: what must be equal under the same key. */
  readonly body: unknown;
  /** The record's fields. */
  readonly build: (envelope: CommandEnvelope) => Doc;
}

export interface EdgeAnswer {
  readonly httpStatus: number;
  /** JSON text. */
  readonly body: string;
  /** Where to ask later, when the answer was not there in time. */
  readonly location?: string;
  /** When to ask later, seconds. */
  readonly retryAfterS?: number;
}

export interface CommandEdgeOptions {
  readonly codecs: Pick<Codecs, 'prepareWriter' | 'encode'>;
  /** Opens the producer at the first command. Errors: Failure(BROKER_UNAVAILABLE). */
  readonly producer: () => Promise<WireProducer>;
  /** Row of the command, null while it is not projected. Errors: Failure(DATABASE_UNAVAILABLE). */
  readonly commandRow: (log: string, commandId: string) => Promise<Row | null>;
  readonly edgeKey: Buffer;
  /** Longest wait for the broker and for an answer together, milliseconds. Default 10,000. */
  readonly patienceMs?: number;
  /** Default: the host's. Its wall time is `issued_at`, which no decision reads. */
  readonly clock?: Clock;
}

const PATIENCE_MS = 10_000;
/** A command is given this long to reach its wire, however little its caller waits for the outcome; milliseconds. */
const PUBLISH_MS = 1_000;
/** A projected answer is there after 5 to 20 ms when all is well; then the polls get rarer. */
const POLL_FIRST_MS = 5;
const POLL_MAX_MS = 25;
const POLL_GROWTH = 1.4;
const TICKET_DIGITS = 32;
const RETRY_AFTER_S = 1;

export class CommandEdge {
  private producing: Promise<WireProducer> | undefined;
  private readonly prepared = new Map<string, Promise<void>>();

  private readonly clock: Clock;

  constructor(private readonly options: CommandEdgeOptions) {
    this.clock = options.clock ?? systemClock;
  }

  /** Errors: EdgeRefusal(INPUT_INVALID, IDEMPOTENCY_KEY_REUSED); Failure(BROKER_UNAVAILABLE, REGISTRY_UNAVAILABLE, DATABASE_UNAVAILABLE). */
  async submit(submission: Submission): Promise<EdgeAnswer> {
    const startedAt = this.clock.monotonic();
    const envelope = this.envelopeOf(submission);
    refuse(findProblem(submission.key, submission.build(envelope)));
    const standing = await this.answerOf(submission, envelope);
    if (standing) return standing;
    await this.publishInTime(submission, envelope, this.leftOf(startedAt));
    const leftMs = this.leftOf(startedAt);
    return (
      (leftMs > 0 ? await this.awaitAnswer(submission, envelope, leftMs) : null) ?? this.later(submission, envelope)
    );
  }

  /** What became of a command, by the ticket its caller got. Null for a ticket that is not this caller's, or of another log. */
  async lookUp(log: string, ticket: string, principal: Principal): Promise<EdgeAnswer | null> {
    const [commandId = '', mark = ''] = ticket.split('.');
    const expected = Buffer.from(this.markOf(log, commandId, principal));
    const given = Buffer.from(mark);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const row = await this.options.commandRow(log, commandId);
    if (!row)
      return {
        httpStatus: 202,
        body: JSON.stringify({ command_id: commandId, status: 'pending' }),
        retryAfterS: RETRY_AFTER_S,
      };
    const { http_status, answer } = commandDoc.parse(row.doc);
    return { httpStatus: http_status, body: answer };
  }

  async close(): Promise<void> {
    const producer = await this.producing?.catch(() => undefined);
    await producer?.close();
  }

  private envelopeOf({ tenant, principal, route, idempotencyKey, body }: Submission): CommandEnvelope {
    const key = idempotencyKey ?? randomUUID();
    return {
      command_id: deriveId('cmd', tenant, principal.subject, route, key),
      tenant,
      principal: principal.subject,
      accounts: [...(principal.accounts ?? [])],
      roles: [...principal.roles],
      route,
      idempotency_key: key,
      body_sha256: Buffer.from(sha256Hex(canonicalJson(body ?? null)), 'hex'),
      issued_at: this.clock.now(),
      signature: Buffer.alloc(0),
    };
  }

  /** What is left of the patience of somebody who asked then, milliseconds: reads of a slow database count as pauses do. */
  private leftOf(startedAt: number): number {
    return (this.options.patienceMs ?? PATIENCE_MS) - (this.clock.monotonic() - startedAt);
  }

  /** A broker that says nothing is waited for as long as for an answer; what is sent late all the same is the same command. */
  private publishInTime(submission: Submission, envelope: CommandEnvelope, leftMs: number): Promise<void> {
    return within(this.publish(submission, envelope), Math.max(leftMs, PUBLISH_MS), submission.topic);
  }

  private async publish({ topic, type, key, build }: Submission, envelope: CommandEnvelope): Promise<void> {
    const signature = signCommand(this.options.edgeKey, { topic, type, body: build(envelope) });
    await this.prepare(topic);
    const value = this.options.codecs.encode(
      topic,
      type.slice(type.lastIndexOf('.') + 1),
      build({ ...envelope, signature }),
    );
    if (value.length > WIRE_RECORD_BYTES_MAX) refuse(TOO_LARGE);
    const producer = await this.producer();
    await producer.send(topic, [{ key: Buffer.from(key, 'utf8'), value }]);
  }

  /** Null once that time is over, also while a read is under way. */
  private async awaitAnswer(
    submission: Submission,
    envelope: CommandEnvelope,
    leftMs: number,
  ): Promise<EdgeAnswer | null> {
    const over = new AbortController();
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const callOff = this.clock.alarm(leftMs, () => {
      resolve(null);
    });
    try {
      return await Promise.race([this.poll(submission, envelope, over.signal), late]);
    } finally {
      callOff();
      over.abort();
    }
  }

  private async poll(submission: Submission, envelope: CommandEnvelope, over: AbortSignal): Promise<EdgeAnswer | null> {
    for (let pollMs = POLL_FIRST_MS; !over.aborted; pollMs = Math.min(pollMs * POLL_GROWTH, POLL_MAX_MS)) {
      await this.clock.sleep(pollMs);
      const answer = await this.answerOf(submission, envelope);
      if (answer) return answer;
    }
    return null;
  }

  private async answerOf(
    { log }: Submission,
    { command_id, body_sha256 }: CommandEnvelope,
  ): Promise<EdgeAnswer | null> {
    const row = await this.options.commandRow(log, command_id);
    if (!row) return null;
    const stored = commandDoc.parse(row.doc);
    if (stored.body_sha256 !== body_sha256.toString('hex'))
      throw new EdgeRefusal('IDEMPOTENCY_KEY_REUSED', 'this key was used for another body; choose a new one');
    return { httpStatus: stored.http_status, body: stored.answer };
  }

  private later({ log, principal }: Submission, { command_id }: CommandEnvelope): EdgeAnswer {
    const location = `/v1/commands/${command_id}.${this.markOf(log, command_id, principal)}`;
    return {
      httpStatus: 202,
      body: JSON.stringify({ command_id, status: 'pending', location }),
      location,
      retryAfterS: RETRY_AFTER_S,
    };
  }

  /** Only who sent a command may ask for its answer, and only of the log it went to: one id may be answered in two logs of a service. */
  private markOf(log: string, commandId: string, { subject, tenant }: Principal): string {
    return createHmac('sha256', this.options.edgeKey)
      .update(canonicalJson({ ticket: commandId, log, subject, tenant }))
      .digest('hex')
      .slice(0, TICKET_DIGITS);
  }

  /** A failed preparation or connection is tried again by the next command. */
  private prepare(topic: string): Promise<void> {
    const known = this.prepared.get(topic);
    if (known) return known;
    const preparing = this.options.codecs.prepareWriter(topic);
    this.prepared.set(topic, preparing);
    preparing.catch(() => {
      this.prepared.delete(topic);
    });
    return preparing;
  }

  private producer(): Promise<WireProducer> {
    if (this.producing) return this.producing;
    const opening = this.options.producer();
    this.producing = opening;
    opening.catch(() => {
      this.producing = undefined;
    });
    return opening;
  }
}

const TOO_LARGE = {
  reason: 'RECORD_TOO_LARGE',
  detail: `written out it has more than the ${String(WIRE_RECORD_BYTES_MAX)} bytes a command may have`,
};

/** Refuses what the loop would park (E4). Errors: EdgeRefusal(INPUT_INVALID). */
function refuse(problem: ReturnType<typeof findProblem>): void {
  if (problem === null) return;
  const { reason: code, detail: message } = problem;
  throw new EdgeRefusal('INPUT_INVALID', message, [{ code, message }]);
}

/** What the edge needs of a row of kind `command`. */
const commandDoc: z.ZodType<Pick<CommandDoc, 'body_sha256' | 'http_status' | 'answer'>> = z.object({
  body_sha256: z.string(),
  http_status: z.number(),
  answer: z.string(),
});
