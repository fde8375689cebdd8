import { describe, expect, it } from '@jest/globals';
import { verifyCommand } from '@recourse/event-log';
import type { Doc } from '@recourse/event-log';
import { ManualClock } from '@recourse/kernel';
import type { PlacedRow } from '../projection-reads.js';
import { CommandEdge } from './command-edge.js';
import type { Submission } from './command-edge.js';

const KEY = Buffer.alloc(32, 7);
const PRINCIPAL = { subject: 'dana', tenant: 'acme', roles: ['approver'] };
const SUBMISSION: Submission = {
  topic: 'recourse.budget-commands',
  log: 'recourse.budgets',
  type: 'recourse.budgets.DecideEscalation',
  key: 'acme',
  principal: PRINCIPAL,
  tenant: 'acme',
  route: 'POST /v1/escalations/e/decide',
  idempotencyKey: 'k1',
  body: { approved: true, reason: 'fine' },
  build: (envelope) => ({ envelope, escalation_id: 'e', approved: true, reason: 'fine' }),
};

interface Sent {
  readonly topic: string;
  readonly key: string;
  readonly type: string;
  readonly body: Doc;
}

/** Time passes while somebody pauses. */
class RunningClock extends ManualClock {
  override sleep(ms: number): Promise<void> {
    return this.advance(ms);
  }
}

/** An edge whose loop answers each command as told, after some polls. */
function edgeWith({
  answerAfterPolls = 1,
  patienceMs = 1_000,
  producerFailures = 0,
  isSilent = false,
  bytes = 1,
  readMs = 0,
} = {}) {
  const clock = new RunningClock(1_000);
  const sent: Sent[] = [];
  const rows = new Map<string, PlacedRow>();
  let polls = 0;
  let failures = producerFailures;
  let encoding: Pick<Sent, 'type' | 'body'> = { type: '', body: {} };
  const record = ({ body }: Sent): void => {
    const { command_id, body_sha256 } = body['envelope'] as { command_id: string; body_sha256: Buffer }; // the edge built it
    if (rows.has(command_id)) return;
    const doc = {
      command_id,
      body_sha256: body_sha256.toString('hex'),
      status: 'accepted',
      http_status: 201,
      code: null,
      answer: '{"ok":true}',
    };
    rows.set(command_id, { partition: 0, kind: 'command', group: command_id, key: command_id, dueAt: null, doc });
  };
  const edge = new CommandEdge({
    codecs: {
      prepareWriter: () => Promise.resolve(),
      encode: (_topic, type, body) => {
        encoding = { type, body: body as Doc };
        return Buffer.alloc(bytes);
      },
    },
    producer: () => {
      if (failures > 0) {
        failures -= 1;
        return Promise.reject(new Error('no broker'));
      }
      return Promise.resolve({
        send: (topic, records) => {
          if (isSilent) return new Promise<void>(() => undefined);
          sent.push({ topic, key: records[0]?.key.toString() ?? '', ...encoding });
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      });
    },
    commandRow: async (_log, id) => {
      polls += 1;
      const last = sent.at(-1);
      if (last && polls > answerAfterPolls) record(last);
      if (readMs > 0) await clock.advance(readMs);
      return rows.get(id) ?? null;
    },
    edgeKey: KEY,
    patienceMs,
    clock,
  });
  return { edge, sent, clock };
}

describe('a submitted command', () => {
  const asking = (body: Doc): Submission => ({
    ...SUBMISSION,
    build: (envelope) => ({ ...SUBMISSION.build(envelope), ...body }),
  });

  it.each([
    ['half of a pair of surrogates', { reason: 'a\ud800' }, 'TEXT_MALFORMED'],
    ['NUL', { runbook: 'a\u0000b' }, 'NUL_IN_TEXT'],
    ['a name that is longer than any', { run_id: 'x'.repeat(600) }, 'TEXT_TOO_LONG'],
    ['an agent who is nobody', { agent_id: 'x y' }, 'PRINCIPAL_INVALID'],
  ])('that holds %s is refused and never sent: it would hold up what it names', async (_what, body, code) => {
    const { edge, sent } = edgeWith();
    await expect(edge.submit(asking(body))).rejects.toMatchObject({ code: 'INPUT_INVALID', problems: [{ code }] });
    expect(sent).toEqual([]);
  });

  it('that is longer when written out than a command may be is refused and never sent', async () => {
    const { edge, sent } = edgeWith({ bytes: 262_145 });
    await expect(edge.submit(SUBMISSION)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      problems: [{ code: 'RECORD_TOO_LARGE' }],
    });
    expect(sent).toEqual([]);
  });

  it('is refused within its patience while no broker answers, and may be sent again under its key', async () => {
    const { edge } = edgeWith({ isSilent: true, patienceMs: 50 });
    await expect(edge.submit(SUBMISSION)).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  }, 3_000);

  it('is signed, keyed and answered with what the log recorded', async () => {
    const { edge, sent } = edgeWith();
    expect(await edge.submit(SUBMISSION)).toEqual({ httpStatus: 201, body: '{"ok":true}' });
    expect(sent.map(({ topic, key, type }) => [topic, key, type])).toEqual([
      ['recourse.budget-commands', 'acme', 'DecideEscalation'],
    ]);
    const body = sent[0]?.body ?? {};
    const { signature } = body['envelope'] as { signature: Buffer };
    expect(verifyCommand(KEY, { topic: SUBMISSION.topic, type: SUBMISSION.type, body }, signature)).toBe(true);
  });

  it('is answered from the log when it is repeated, and not published again', async () => {
    const { edge, sent } = edgeWith();
    const first = await edge.submit(SUBMISSION);
    expect(await edge.submit(SUBMISSION)).toEqual(first);
    expect(sent).toHaveLength(1);
  });

  it('is refused under the key of another body', async () => {
    const { edge, sent } = edgeWith();
    await edge.submit(SUBMISSION);
    await expect(edge.submit({ ...SUBMISSION, body: { approved: false, reason: 'no' } })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect(sent).toHaveLength(1);
  });

  it('has an id of its own per tenant, principal, route and key', async () => {
    const { edge, sent } = edgeWith();
    const others: Partial<Submission>[] = [
      {},
      { tenant: 'other' },
      { principal: { ...PRINCIPAL, subject: 'eve' } },
      { route: 'POST /v1/escalations/f/decide' },
      { idempotencyKey: 'k2' },
    ];
    for (const other of others) await edge.submit({ ...SUBMISSION, ...other });
    expect(new Set(sent.map(({ body }) => (body['envelope'] as { command_id: string }).command_id)).size).toBe(
      others.length,
    );
  });

  it('is never a repetition without a key', async () => {
    const { edge, sent } = edgeWith();
    await edge.submit({ ...SUBMISSION, idempotencyKey: undefined });
    await edge.submit({ ...SUBMISSION, idempotencyKey: undefined });
    expect(sent).toHaveLength(2);
  });

  it('is answered 202 with a place to ask when patience ends, for its sender alone', async () => {
    const { edge } = edgeWith({ answerAfterPolls: 40, patienceMs: 100 });
    const { httpStatus, location = '' } = await edge.submit(SUBMISSION);
    expect(httpStatus).toBe(202);
    const ticket = location.replace('/v1/commands/', '');
    expect(await edge.lookUp(SUBMISSION.log, ticket, PRINCIPAL)).toMatchObject({ httpStatus: 202, retryAfterS: 1 });
    for (let n = 0; n < 60; n += 1) await edge.lookUp(SUBMISSION.log, ticket, PRINCIPAL);
    expect(await edge.lookUp(SUBMISSION.log, ticket, PRINCIPAL)).toEqual({ httpStatus: 201, body: '{"ok":true}' });
    expect(await edge.lookUp(SUBMISSION.log, ticket, { ...PRINCIPAL, subject: 'eve' })).toBeNull();
    expect(await edge.lookUp(SUBMISSION.log, ticket.split('.')[0] ?? '', PRINCIPAL)).toBeNull();
  });

  it('is answered 202 when patience ends, however long the database takes to answer', async () => {
    for (const readMs of [1, 90, 400, 999]) {
      const { edge, clock } = edgeWith({ answerAfterPolls: Infinity, patienceMs: 1_000, readMs });
      expect(await edge.submit(SUBMISSION)).toMatchObject({ httpStatus: 202 });
      expect(clock.monotonic()).toBe(1_000);
    }
  });

  it('is looked up in the log it went to: of another log the ticket is none, whatever that log holds', async () => {
    const { edge } = edgeWith({ answerAfterPolls: 40, patienceMs: 100 });
    const { location = '' } = await edge.submit(SUBMISSION);
    const ticket = location.replace('/v1/commands/', '');
    for (let n = 0; n < 60; n += 1) await edge.lookUp(SUBMISSION.log, ticket, PRINCIPAL);
    expect(await edge.lookUp(SUBMISSION.log, ticket, PRINCIPAL)).toEqual({ httpStatus: 201, body: '{"ok":true}' });
    expect(await edge.lookUp('recourse.assumptions', ticket, PRINCIPAL)).toBeNull();
  });

  it('goes out once a broker answers, after a failure', async () => {
    const { edge } = edgeWith({ producerFailures: 1 });
    await expect(edge.submit(SUBMISSION)).rejects.toThrow('no broker');
    expect(await edge.submit(SUBMISSION)).toMatchObject({ httpStatus: 201 });
  });
});
