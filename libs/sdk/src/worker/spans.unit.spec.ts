import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { placeInTrace, traceparentOf } from '@recourse/kernel';
import type { TracePlace } from '@recourse/kernel';
import type { CalledTool } from './tool-call.js';
import { legOf, legStep } from './legs.testing.js';
import { spanFile, spanOf } from './spans.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spans-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const PLACE: TracePlace = placeInTrace(traceparentOf('rb_1', { name: 'leg', which: '1 answered' })) ?? {
  traceId: '',
  spanId: '',
};
const CALLED: CalledTool = {
  leg: legOf(),
  step: legStep(),
  phase: 'execute',
  capability: 'payments.reverse_refund',
  startAt: 1_000,
  endAt: 1_250,
  failure: null,
};
const here = (index: number) => ({ place: PLACE, workerId: 'worker', index });

/** Lines of a file, once there are so many. */
async function linesOf(file: string, count: number): Promise<readonly unknown[]> {
  for (let turns = 0; turns < 1_000; turns += 1) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
    let text = '';
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      continue;
    }
    const lines = text.split('\n').slice(0, -1);
    if (lines.length >= count) return lines.map((line): unknown => JSON.parse(line));
  }
  throw new Error(`waited for ${String(count)} lines`);
}

describe('a call as a span', () => {
  it('hangs below its leg, in the trace of the recovery, and names what was called (C50)', () => {
    expect(spanOf(CALLED, here(1))).toEqual({
      traceId: PLACE.traceId,
      parentSpanId: PLACE.spanId,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'execute',
      startAt: 1_000,
      endAt: 1_250,
      problem: null,
      attributes: {
        tenant: 'acme',
        run_id: 'run-1',
        leg_id: 'leg_1',
        step_id: 'step_1',
        mutation_id: 'mut_1',
        attempt: 1,
        capability: 'payments.reverse_refund',
        'worker.id': 'worker',
      },
    });
  });

  it('is another than the next one, of the same leg or of a later delivery', () => {
    const spans = [
      spanOf(CALLED, here(1)),
      spanOf(CALLED, here(2)),
      spanOf({ ...CALLED, startAt: 1_100 }, here(1)),
      spanOf(CALLED, { ...here(1), workerId: 'other' }),
    ];
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
  });

  it('says nothing of arguments or observations', () => {
    expect(JSON.stringify(spanOf(CALLED, here(1)))).not.toMatch(/rf_1|order\/4711|settled/);
  });
});

describe("a file of a worker's spans", () => {
  it("holds them as OpenTelemetry exports a client's calls, behind what it held", async () => {
    const file = join(folder, 'spans.jsonl');
    const onSpan = spanFile({
      file,
      service: 'payments-worker',
      instance: '1',
      onError: (error) => {
        throw error;
      },
    });
    onSpan(spanOf(CALLED, here(1)));
    onSpan(spanOf({ ...CALLED, phase: 'verify', failure: 'TOOL_TIMEOUT' }, here(2)));
    expect(await linesOf(file, 2)).toMatchObject([
      {
        resourceSpans: [
          {
            resource: {
              attributes: [
                { key: 'service.name', value: { stringValue: 'payments-worker' } },
                { key: 'service.instance.id', value: { stringValue: '1' } },
              ],
            },
            scopeSpans: [
              {
                spans: [
                  {
                    traceId: PLACE.traceId,
                    parentSpanId: PLACE.spanId,
                    name: 'execute',
                    kind: 3,
                    startTimeUnixNano: '1000000000',
                    endTimeUnixNano: '1250000000',
                    status: { code: 0 },
                    attributes: expect.arrayContaining([{ key: 'attempt', value: { intValue: '1' } }]),
                  },
                ],
              },
            ],
          },
        ],
      },
      {
        resourceSpans: [
          { scopeSpans: [{ spans: [{ name: 'verify', status: { code: 2, message: 'TOOL_TIMEOUT' } }] }] },
        ],
      },
    ]);
  });

  it('that cannot be written is said once and stops nobody', async () => {
    const problems: unknown[] = [];
    const onSpan = spanFile({
      file: join(folder, 'no', 'such', 'folder'),
      service: 's',
      instance: '1',
      onError: (error) => {
        problems.push(error);
      },
    });
    onSpan(spanOf(CALLED, here(1)));
    onSpan(spanOf(CALLED, here(2)));
    for (let turns = 0; turns < 200 && problems.length === 0; turns += 1)
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
    expect(problems).toMatchObject([{ code: 'ENOENT' }]);
  });
});
