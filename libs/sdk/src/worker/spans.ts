// What a worker tells of its calls: spans that hang below the leg of the recovery they belong to (ADR-0016).
//
// Boundary: pure but for the file. The place in the trace comes with the request, in its `traceparent`; nothing is decided by it.
import { appendFile } from 'node:fs/promises';
import { sha256Hex } from '@recourse/kernel';
import type { TracePlace } from '@recourse/kernel';
import type { CalledTool } from './tool-call.js';

/** A call of a tool that has ended, as a span of the recovery's trace. Ids are hex, as OpenTelemetry has them. */
export interface WorkerSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** What the call was for: reconcile, stale_check, execute or verify. */
  readonly name: string;
  /** Epoch milliseconds, by the worker's clock. */
  readonly startAt: number;
  /** Epoch milliseconds, by the worker's clock. */
  readonly endAt: number;
  /** Ids and names; never arguments, observations or people. */
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Why there was no answer; null when there was. */
  readonly problem: string | null;
}

/** Takes spans as they end; it must neither fail nor wait. */
export type OnSpan = (span: WorkerSpan) => void;

/** A call as a span. Shape: `place` is that of the leg; `index` tells the calls of one leg apart. */
export function spanOf(
  { leg, step, phase, capability, startAt, endAt, failure }: CalledTool,
  { place, workerId, index }: { readonly place: TracePlace; readonly workerId: string; readonly index: number },
): WorkerSpan {
  const { tenant, run_id, leg_id, attempt } = leg;
  return {
    traceId: place.traceId,
    spanId: sha256Hex(JSON.stringify([place.traceId, place.spanId, workerId, index, phase, startAt])).slice(0, 16),
    parentSpanId: place.spanId,
    name: phase,
    startAt,
    endAt,
    problem: failure,
    attributes: {
      tenant,
      run_id,
      leg_id,
      step_id: step.step_id,
      mutation_id: step.call.reverses_mutation_ref,
      attempt,
      capability,
      'worker.id': workerId,
    },
  };
}

/** Where spans of a worker go, and in whose name. */
export interface SpanFileOptions {
  readonly file: string;
  readonly service: string;
  readonly instance: string;
  /** Told once when the file cannot be written; the work goes on. */
  readonly onError: (error: unknown) => void;
}

/**
 * Adds spans to a file, one export request of OpenTelemetry's JSON a line, as the services do with theirs.
 *
 * Shape:  several processes may write one file; lines come in the order they were told.
 * Errors: none; a file that cannot be written is told to `onError` once, and the spans are lost.
 */
export function spanFile({ file, service, instance, onError }: SpanFileOptions): OnSpan {
  let written: Promise<void> = Promise.resolve();
  let hasFailed = false;
  return (span) => {
    const line = `${JSON.stringify(requestOf(span, { 'service.name': service, 'service.instance.id': instance }))}\n`;
    written = written
      .then(() => appendFile(file, line))
      .catch((error: unknown) => {
        if (!hasFailed) onError(error);
        hasFailed = true;
      });
  };
}

/** OTLP: kind 3 is a client's call, status 2 an error. */
function requestOf(
  { traceId, spanId, parentSpanId, name, startAt, endAt, attributes, problem }: WorkerSpan,
  resource: WorkerSpan['attributes'],
): unknown {
  const span = {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: 3,
    startTimeUnixNano: nanos(startAt),
    endTimeUnixNano: nanos(Math.max(startAt, endAt)),
    attributes: attributesOf(attributes),
    status: problem === null ? { code: 0 } : { code: 2, message: problem },
  };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'recourse' }, spans: [span] }],
      },
    ],
  };
}

function nanos(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}

function attributesOf(attributes: WorkerSpan['attributes']): readonly unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}
