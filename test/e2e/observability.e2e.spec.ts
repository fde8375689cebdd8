// What an operator sees of a recovery from outside: one trace from trigger to verification, series, and reports.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OPERATOR, SPANS, System, TENANT } from './system.testing.js';
import type { Facts, OpenItem, Side } from './system.testing.js';

const ROOT = process.cwd();
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const TOOL = 'payments.issue_refund';

/** A span as OpenTelemetry's JSON has it, with the service that told it. */
interface Span {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly from: bigint;
  readonly to: bigint;
  readonly attributes: Facts;
}
interface Told {
  readonly key: string;
  readonly value: Facts;
}

let started: System | undefined;
let system: System;
let undone: OpenItem;
let denied: OpenItem;

beforeAll(async () => {
  started = await System.start();
  system = started;
  undone = await system.openItem();
  denied = await system.openItem();
  await system.approve(undone);
  await system.post('orchestrator', `/v1/steps/${denied.stepId}/deny`, {
    person: OPERATOR,
    body: { action_digest: denied.digest, reason: 'the customer keeps it' },
  });
  expect([await system.restOf(undone), await system.restOf(denied)]).toEqual([
    'compensated',
    'manual_resolution_required',
  ]);
}, 400_000);
afterAll(() => started?.close(), 60_000);

function spans(): readonly Span[] {
  return readFileSync(join(system.dataDir, SPANS), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      // One export request a line, with one span of one service.
      const {
        resourceSpans: [
          {
            resource,
            scopeSpans: [
              {
                spans: [span],
              },
            ],
          },
        ],
      } = JSON.parse(line) as {
        resourceSpans: [
          {
            resource: { attributes: readonly Told[] };
            scopeSpans: [
              {
                spans: [
                  Readonly<Record<'name' | 'traceId' | 'spanId' | 'startTimeUnixNano' | 'endTimeUnixNano', string>> & {
                    readonly parentSpanId?: string;
                    readonly attributes: readonly Told[];
                  },
                ];
              },
            ];
          },
        ];
      };
      const { name, traceId, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano, attributes } = span;
      return {
        service: String(flat(resource.attributes)['service.name']),
        name,
        traceId,
        spanId,
        parentSpanId,
        from: BigInt(startTimeUnixNano),
        to: BigInt(endTimeUnixNano),
        attributes: flat(attributes),
      };
    });
}

function flat(attributes: readonly Told[]): Facts {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

async function rollbackOf({ mutationId }: OpenItem): Promise<string> {
  return String((await system.get('ledger', `/v1/mutations/${mutationId}`, { person: OPERATOR })).body['rollback_id']);
}

/** Spans of an item's trace, once its last one is written. */
async function traceOf(item: OpenItem): Promise<readonly Span[]> {
  const traceId = createHash('sha256')
    .update(await rollbackOf(item))
    .digest('hex')
    .slice(0, 32);
  return system.until('a whole trace', () => {
    const found = spans().filter((span) => span.traceId === traceId);
    return Promise.resolve(found.some(({ name }) => name === 'settlement') ? found : null);
  });
}

async function series(side: Side): Promise<readonly string[]> {
  return (await system.get(side, '/metrics')).text
    .split('\n')
    .filter((line) =>
      /^recourse_(recovery_seconds_count|recoveries_|approval_seconds_count|compensation_failures|stale)/.test(line),
    );
}

/** Runs the program without a terminal. */
function recourse(...args: readonly string[]): Promise<string> {
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('RECOURSE_') && name !== 'NODE_OPTIONS'),
  );
  return new Promise((resolve, reject) => {
    execFile(
      NODE,
      [join(ROOT, 'apps', 'cli', 'bin', 'recourse.mjs'), '--data-dir', system.dataDir, '--tenant', TENANT, ...args],
      { env },
      (error, out, note) => {
        if (error === null) resolve(out);
        else reject(new Error(note, { cause: error }));
      },
    );
  });
}

describe('the trace of a recovery', () => {
  it('is one, named after its rollback, from the trigger to the verification, over both services and the worker (C50)', async () => {
    const trace = await traceOf(undone);
    expect(trace.map(({ service, name }) => `${service} ${name}`).sort()).toEqual([
      'mutation-ledger mark',
      'mutation-ledger settlement',
      'mutation-ledger trigger',
      'payments-worker execute',
      'payments-worker stale_check',
      'payments-worker verify',
      'recovery-orchestrator approval',
      'recovery-orchestrator decision',
      'recovery-orchestrator leg',
      'recovery-orchestrator verification',
    ]);
    expect(new Set(trace.map(({ attributes }) => attributes['mutation_id']))).toEqual(new Set([undone.mutationId]));
  });

  it('hangs together: each span follows from another of the trace, up to the trigger', async () => {
    const trace = await traceOf(undone);
    const named = new Map(trace.map((span) => [span.spanId, span]));
    const way = (span: Span): readonly string[] => [
      span.name,
      ...(span.parentSpanId === undefined
        ? []
        : way(named.get(span.parentSpanId) ?? { ...span, name: 'nowhere', parentSpanId: undefined })),
    ];
    expect(trace.map((span) => way(span).join(' < ')).sort()).toEqual([
      'approval < decision < trigger',
      'decision < trigger',
      'execute < leg < decision < trigger',
      'leg < decision < trigger',
      'mark < trigger',
      'settlement < trigger',
      'stale_check < leg < decision < trigger',
      'trigger',
      'verification < leg < decision < trigger',
      'verify < leg < decision < trigger',
    ]);
  });

  it('takes place in order', async () => {
    const at = new Map((await traceOf(undone)).map(({ name, from, to }) => [name, { from, to }]));
    const ends = [
      'trigger',
      'mark',
      'decision',
      'approval',
      'stale_check',
      'execute',
      'verify',
      'leg',
      'settlement',
    ].map((name) => at.get(name)?.to ?? -1n);
    expect(ends).toEqual(ends.toSorted((a, b) => (a < b ? -1 : 1)));
    for (const { from, to } of at.values()) expect(from <= to).toBe(true);
  });

  it('of what a person denied ends there, and no tool was called', async () => {
    const trace = await traceOf(denied);
    expect(trace.map(({ name }) => name).sort()).toEqual(['approval', 'decision', 'mark', 'settlement', 'trigger']);
    expect(new Set(trace.map(({ traceId }) => traceId))).not.toEqual(
      new Set((await traceOf(undone)).map(({ traceId }) => traceId)),
    );
  });
});

describe('the reports', () => {
  it('tell the exposure and what recoveries took, to a person and to a script (A4)', async () => {
    const told = JSON.parse(await recourse('report', 'exposure', '--json')) as {
      readonly exposure: readonly Facts[];
      readonly recoveries: readonly Facts[];
    };
    expect(told.exposure.find(({ capability }) => capability === TOOL)).toMatchObject({
      tenant: TENANT,
      settled: 1,
      beyond: 1,
      happened: 2,
      contradicted: 2,
      declared_cost: { time_ms: 60_000 },
      part_contradicted: 1,
    });
    expect(told.recoveries).toMatchObject([
      {
        capability: TOOL,
        compensated: 1,
        automatic: 0,
        manual: 1,
        attempts: 1,
        mean_ms: expect.any(Number),
        time_at_most_ms: 60_000,
      },
    ]);
    expect(await recourse('report', 'exposure')).toMatch(/^TENANT +CAPABILITY +OPEN[^]*MEAN TIME/);
  });

  it('tell why steps landed with people (C72)', async () => {
    expect(JSON.parse(await recourse('report', 'manual', '--json'))).toEqual({
      items: [
        {
          tenant: TENANT,
          capability: TOOL,
          of: 'recovery',
          reason: 'DENIED',
          times: 1,
          ended: 2,
          share: 0.5,
          is_unprovable: false,
        },
      ],
      more: false,
      pointed_out: [],
    });
  });
});

// Last: the process is another one afterwards, whose series begin anew.
describe('the series', () => {
  it('count each recovery once (C66, C67, C71)', async () => {
    expect((await series('orchestrator')).toSorted()).toEqual([
      `recourse_approval_seconds_count{service="recovery-orchestrator",question="recovery",outcome="approved"} 1`,
      `recourse_approval_seconds_count{service="recovery-orchestrator",question="recovery",outcome="denied"} 1`,
      `recourse_recoveries_manual_total{tool="${TOOL}",service="recovery-orchestrator"} 2`,
      `recourse_recovery_seconds_count{service="recovery-orchestrator",tool="${TOOL}"} 1`,
    ]);
  });

  it('and the trace tell nothing again when a process reads its log anew', async () => {
    const before = spans().length;
    await system.processes.restart('recovery-orchestrator');
    await system.until('a list', async () =>
      (await system.get('orchestrator', '/v1/recoveries', { person: OPERATOR })).status === 200 ? true : null,
    );
    expect([await series('orchestrator'), spans().length]).toEqual([[], before]);
  }, 120_000);
});
