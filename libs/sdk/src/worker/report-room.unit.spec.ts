// What the report of a leg holds, as whoever reads its wire takes it, whatever tools answer.
import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { findStorageProblem, JSON_DEPTH_MAX, ManualClock, WIRE_RECORD_BYTES_MAX } from '@recourse/kernel';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { LegReported, LegRequested, LegStep } from '@recourse/messages';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { ToolRejected } from '../tool/tool.js';
import type { Tool, ToolContext } from '../tool/tool.js';
import { runLeg } from './leg-runner.js';
import { legOf, legStep } from './legs.testing.js';
import { RESULTS_TOPIC } from './worker.js';

/** What a provider answers. */
interface Answers {
  readonly executed?: Json;
  readonly seen?: (context: ToolContext, look: number) => Json;
}

function stage(answers: Answers) {
  const executed: string[] = [];
  let looks = 0;
  const tools: Readonly<Record<string, Tool>> = {
    'payments.reverse_refund': (_, { callId }) => {
      executed.push(callId);
      return Promise.resolve(answers.executed ?? { status: 'reversed' });
    },
    'payments.get_refund': (_, context) => {
      looks += 1;
      return Promise.resolve(
        answers.seen?.(context, looks) ?? { status: executed.includes(context.callId) ? 'reversed' : 'settled' },
      );
    },
  };
  const take = (leg: LegRequested, more: Readonly<Record<string, Tool>> = {}): Promise<LegReported> =>
    runLeg(leg, {
      workerId: 'w',
      tools: { ...tools, ...more },
      clock: new ManualClock(1_000),
      claimStore: new MemoryClaimStore(),
      callTimeoutMs: 500,
    });
  return { take, executed };
}

const steps = (count: number, more: Partial<LegStep> = {}): readonly LegStep[] =>
  Array.from({ length: count }, (_, index) => {
    const id = `step_${String(index + 1)}`;
    return legStep({
      step_id: id,
      call: { ...legStep().call, call_id: id, idempotency_key: `rev_${id}` },
      verify_max_attempts: 1,
      ...more,
    });
  });

const outcomes = ({ steps: told }: LegReported) => told.map(({ outcome }) => outcome);
const phases = ({ steps: told }: LegReported) =>
  told.map(({ observations }) => observations.map(({ phase }) => phase).join(' '));

/** Bytes of the report on its wire; its reader finds nothing else wrong with it. */
async function bytesOn(report: LegReported): Promise<number> {
  expect(findStorageProblem(report.run_id, { ...report })).toBeNull();
  const codecs = createCodecs(new MemoryRegistry().forActor('worker'));
  await codecs.prepareWriter(RESULTS_TOPIC, { register: true });
  return codecs.encode(RESULTS_TOPIC, 'LegReported', report).length;
}

const large = (bytes: number): string => 'x'.repeat(bytes);

describe('the report of a leg', () => {
  it('ends where it is half full, and the rest of the leg is left to another', async () => {
    const { take, executed } = stage({
      seen: ({ phase }) => ({ status: phase === 'verify' ? 'reversed' : 'settled', page: large(20_000) }),
    });
    const report = await take(legOf({ steps: steps(11) }));
    expect([outcomes(report), report.complete]).toEqual([['verified', 'verified', 'verified'], true]);
    expect(executed).toEqual(['step_1', 'step_2', 'step_3']);
    expect(await bytesOn(report)).toBeLessThanOrEqual(WIRE_RECORD_BYTES_MAX);
  });

  it('holds sixty-four steps whose tools answer in a few words', async () => {
    const { take } = stage({});
    const report = await take(legOf({ steps: steps(64) }));
    expect(outcomes(report)).toEqual(Array.from({ length: 64 }, () => 'verified'));
    expect(await bytesOn(report)).toBeLessThanOrEqual(WIRE_RECORD_BYTES_MAX);
  });

  it('leaves out what the acting tool answered where it is too large: that it acted is seen all the same', async () => {
    const { take, executed } = stage({ executed: { page: large(300_000) } });
    const report = await take(legOf({ steps: steps(2) }));
    expect([outcomes(report), phases(report), executed]).toEqual([
      ['verified', 'verified'],
      ['stale_check verify', 'stale_check verify'],
      ['step_1', 'step_2'],
    ]);
    expect(await bytesOn(report)).toBeLessThanOrEqual(WIRE_RECORD_BYTES_MAX);
  });

  it.each([
    ['verify', 'unknown', 1],
    ['stale_check', 'not_executed', 0],
  ])('counts a look for %s that is too large as none, and says so', async (blind, outcome, calls) => {
    const { take, executed } = stage({
      seen: ({ phase }) => ({
        status: phase === 'verify' ? 'reversed' : 'settled',
        ...(phase === blind ? { page: large(300_000) } : {}),
      }),
    });
    const report = await take(legOf({ steps: steps(1) }));
    expect([outcomes(report), executed.length]).toEqual([[outcome], calls]);
    expect(report.steps).toMatchObject([
      {
        error_kind: 'TOOL_ERROR',
        detail: expect.stringMatching(/^the answer of payments\.get_refund is left out: it has 3000\d\d bytes, /u),
      },
    ]);
    expect(await bytesOn(report)).toBeLessThanOrEqual(WIRE_RECORD_BYTES_MAX);
  });

  it('keeps the last of many looks, and drops what does not fit of those before', async () => {
    const { take } = stage({
      seen: ({ phase }, look) => ({
        status: phase === 'verify' && look === 21 ? 'reversed' : 'settled',
        look,
        page: large(20_000),
      }),
    });
    const report = await take(
      legOf({ not_after: 1_000_000, steps: steps(1, { verify_max_attempts: 20, verify_delay_ms: 0 }) }),
    );
    expect(outcomes(report)).toEqual(['verified']);
    expect(report.steps[0]?.observations.at(-1)?.observed.body.toString()).toContain('"look":21');
    expect(await bytesOn(report)).toBeLessThanOrEqual(WIRE_RECORD_BYTES_MAX);
  });

  it.each([
    ['a page', large(1_000_000)],
    ['NUL', 'no such\u0000 refund'],
    ['half a character', 'refund \ud83d'],
  ])('tells of an error with %s as a database takes it', async (_, message) => {
    const { take } = stage({});
    const report = await take(legOf({ steps: steps(1) }), {
      'payments.reverse_refund': () => Promise.reject(new ToolRejected('GONE', message)),
    });
    expect([outcomes(report), report.steps[0]?.detail?.slice(0, 6)]).toEqual([['failed'], 'GONE: ']);
    expect(await bytesOn(report)).toBeLessThanOrEqual(WIRE_RECORD_BYTES_MAX);
  });

  it.each([
    ['verify', 'unknown', 1],
    ['stale_check', 'not_executed', 0],
  ])('counts a look for %s that JSON says nothing of, in part, as none, and says so', async (blind, outcome, calls) => {
    const { take, executed } = stage({
      executed: { at: new Date(0), log: new Map() } as unknown as Json,
      seen: ({ phase }) => ({
        status: phase === 'verify' ? 'reversed' : 'settled',
        ...(phase === blind ? { holds: new Map([['a', 1]]) as unknown as Json } : {}),
      }),
    });
    const report = await take(legOf({ steps: steps(1) }));
    expect([outcomes(report), executed.length]).toEqual([[outcome], calls]);
    expect(report.steps).toMatchObject([
      { error_kind: 'TOOL_ERROR', detail: expect.stringContaining('a Map at /holds') },
    ]);
  });

  it('keeps of what the acting tool answered what JSON says of it', async () => {
    const { take } = stage({ executed: { at: new Date(0), log: new Map() } as unknown as Json });
    const report = await take(legOf({ steps: steps(1) }));
    const [made] = report.steps[0]?.observations.filter(({ phase }) => phase === 'execute') ?? [];
    expect([outcomes(report), made?.observed.body.toString()]).toEqual([
      ['verified'],
      '{"at":"1970-01-01T00:00:00.000Z"}',
    ]);
  });

  it('takes an answer that nobody reads for an error of the tool', async () => {
    const deep = Array.from({ length: JSON_DEPTH_MAX + 1 }).reduce<Json>((inner) => [inner], 1);
    const { take } = stage({ executed: deep });
    const report = await take(legOf({ steps: steps(1) }));
    expect(report.steps).toMatchObject([
      { outcome: 'unknown', error_kind: 'TOOL_ERROR', detail: expect.stringContaining('64 levels') },
    ]);
  });
});
