import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex, spanIdOf, traceIdOf } from '@recourse/kernel';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NO_TRACES, traceFile } from './traces.js';
import type { SpanSpec } from './traces.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'traces-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const TRIGGER: SpanSpec = {
  about: 'rb_1',
  name: 'trigger',
  which: '',
  parent: null,
  startAt: 1_000,
  endAt: 1_000,
  attributes: { tenant: 'acme', looks: 2, isLate: false, part: 0.5 },
  problem: null,
};
const LEG: SpanSpec = {
  ...TRIGGER,
  name: 'leg',
  which: '1',
  parent: { name: 'trigger', which: '' },
  startAt: 1_500,
  endAt: 2_250,
  attributes: {},
  problem: 'TOOL_FAILED',
};

/** Spans of a file, one line each. */
function spansIn(file: string): readonly Readonly<Record<string, unknown>>[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      // One export request of OTLP JSON a line, with one span.
      const {
        resourceSpans: [
          {
            scopeSpans: [
              {
                spans: [span],
              },
            ],
          },
        ],
      } = JSON.parse(line) as { resourceSpans: [{ scopeSpans: [{ spans: [Readonly<Record<string, unknown>>] }] }] };
      return span;
    });
}

async function told(...spans: readonly SpanSpec[]): Promise<string> {
  const file = join(folder, 'spans.jsonl');
  const traces = traceFile({
    file,
    service: 'ledger',
    instance: '1',
    onError: (error) => {
      throw error;
    },
  });
  for (const span of spans) traces.tell(span);
  await traces.close();
  return file;
}

describe('a file of spans', () => {
  it('holds each as OpenTelemetry exports it: times in nanoseconds, typed attributes, the problem as its status', async () => {
    expect(spansIn(await told(TRIGGER, LEG))).toEqual([
      {
        traceId: traceIdOf('rb_1'),
        spanId: spanIdOf('rb_1', TRIGGER),
        name: 'trigger',
        kind: 1,
        startTimeUnixNano: '1000000000',
        endTimeUnixNano: '1000000000',
        status: { code: 0 },
        attributes: [
          { key: 'tenant', value: { stringValue: 'acme' } },
          { key: 'looks', value: { intValue: '2' } },
          { key: 'isLate', value: { boolValue: false } },
          { key: 'part', value: { doubleValue: 0.5 } },
        ],
      },
      {
        traceId: traceIdOf('rb_1'),
        spanId: spanIdOf('rb_1', LEG),
        parentSpanId: spanIdOf('rb_1', TRIGGER),
        name: 'leg',
        kind: 1,
        startTimeUnixNano: '1500000000',
        endTimeUnixNano: '2250000000',
        status: { code: 2, message: 'TOOL_FAILED' },
        attributes: [],
      },
    ]);
  });

  it('names the service that told them', async () => {
    expect(JSON.parse(readFileSync(await told(TRIGGER), 'utf8'))).toMatchObject({
      resourceSpans: [
        {
          resource: { attributes: expect.arrayContaining([{ key: 'service.name', value: { stringValue: 'ledger' } }]) },
        },
      ],
    });
  });

  it('gets the same span under the same id however often and by whomever it is told', async () => {
    await told(LEG);
    const [first, second] = spansIn(await told(LEG));
    expect(second).toEqual(first);
  });

  it('keeps what it held', async () => {
    await told(TRIGGER);
    expect(spansIn(await told(LEG)).map(({ name }) => name)).toEqual(['trigger', 'leg']);
  });

  it('that cannot be written is said once and stops nobody', async () => {
    const problems: unknown[] = [];
    const traces = traceFile({
      file: join(folder, 'no', 'such', 'folder'),
      service: 'ledger',
      instance: '1',
      onError: (error) => {
        problems.push(error);
      },
    });
    traces.tell(TRIGGER);
    traces.tell(LEG);
    await traces.close();
    expect(problems).toMatchObject([{ code: 'ENOENT' }]);
  });

  it('never ends a span before it began', async () => {
    expect(spansIn(await told({ ...LEG, startAt: 2_000, endAt: 1_000 }))).toMatchObject([
      { startTimeUnixNano: '2000000000', endTimeUnixNano: '2000000000' },
    ]);
  });
});

describe('the id of a trace', () => {
  it('is the first 16 bytes of the SHA-256 of what it is about', () => {
    expect(traceIdOf('rb_1')).toBe(sha256Hex('rb_1').slice(0, 32));
    expect([traceIdOf('rb_1'), traceIdOf('rb_2'), spanIdOf('rb_1', TRIGGER), spanIdOf('rb_2', TRIGGER)]).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.not.stringMatching(traceIdOf('rb_1')),
      expect.stringMatching(/^[0-9a-f]{16}$/),
      expect.not.stringMatching(spanIdOf('rb_1', TRIGGER)),
    ]);
  });
});

describe('no traces', () => {
  it('take everything and write nothing', async () => {
    NO_TRACES.tell(TRIGGER);
    await expect(NO_TRACES.close()).resolves.toBeUndefined();
  });
});
