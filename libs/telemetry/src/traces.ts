// Traces: spans of what services did about one thing, as OpenTelemetry knows them, a line of OTLP JSON each in a file.
//
// Boundary: tells nobody anything; what is lost in a crash stays lost, and nothing depends on it.
//
// Invariants
//   S1. Ids follow from names: every process, and a repeated telling, gives the same span of the same trace the same id.
//   S2. A file that cannot be written is said once and stops no work.
import { appendFile } from 'node:fs/promises';
import { spanIdOf, traceIdOf } from '@recourse/kernel';
import { ROOT_CONTEXT, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { HrTime, SpanContext } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import type { IdGenerator, ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** A span that has ended. */
export interface SpanSpec {
  /** What the trace is about, such as the id of a rollback; all spans about it are one trace. */
  readonly about: string;
  /** Name of the kind of work, such as `leg`. */
  readonly name: string;
  /** Tells spans of one name apart within the trace, such as the number of an attempt. */
  readonly which: string;
  /** The span it is part of or follows from; null for the first of a trace. */
  readonly parent: { readonly name: string; readonly which: string } | null;
  /** Epoch milliseconds. */
  readonly startAt: number;
  /** Epoch milliseconds. */
  readonly endAt: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Code of what went wrong; null when nothing did. */
  readonly problem: string | null;
}

export interface Traces {
  /** Takes a span; never fails, never waits. */
  tell(span: SpanSpec): void;
  /** Resolves when what was told is written. */
  close(): Promise<void>;
}

export const NO_TRACES: Traces = { tell: () => undefined, close: () => Promise.resolve() };

export interface TraceFileOptions {
  readonly file: string;
  readonly service: string;
  readonly instance: string;
  readonly onError: (error: unknown) => void;
}

/** Writes spans to a file, behind what it holds. Several processes may write the same one. */
export function traceFile({ file, service, instance, onError }: TraceFileOptions): Traces {
  const ids = new NamedIds();
  const provider = new BasicTracerProvider({
    idGenerator: ids,
    sampler: new AlwaysOnSampler(),
    resource: resourceFromAttributes({ 'service.name': service, 'service.instance.id': instance }),
    spanProcessors: [new LineWriter(file, onError)],
  });
  const tracer = provider.getTracer('recourse');
  return {
    tell: ({ about, name, which, parent, startAt, endAt, attributes, problem }) => {
      ids.next = { traceId: traceIdOf(about), spanId: spanIdOf(about, { name, which }) };
      const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(about, parent));
      const span = tracer.startSpan(name, { startTime: instantOf(startAt), attributes }, context);
      if (problem !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: problem });
      span.end(instantOf(Math.max(startAt, endAt)));
    },
    close: () => provider.shutdown(),
  };
}

function contextOf(about: string, parent: { readonly name: string; readonly which: string }): SpanContext {
  return { traceId: traceIdOf(about), spanId: spanIdOf(about, parent), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** Gives the ids that were set before a span is started. */
class NamedIds implements IdGenerator {
  next = { traceId: '', spanId: '' };
  generateTraceId = (): string => this.next.traceId;
  generateSpanId = (): string => this.next.spanId;
}

/** Writes one export request of OTLP JSON a line, as OpenTelemetry's file exporters do, one after the other. */
class LineWriter implements SpanProcessor {
  private written: Promise<void> = Promise.resolve();
  private hasFailed = false;

  constructor(
    private readonly file: string,
    private readonly onError: (error: unknown) => void,
  ) {}

  onStart(): void {
    /* a span is told when it has ended */
  }

  onEnd(span: ReadableSpan): void {
    const line = `${JSON.stringify(requestOf(span))}\n`;
    this.written = this.written
      .then(() => appendFile(this.file, line))
      .catch((error: unknown) => {
        if (!this.hasFailed) this.onError(error);
        this.hasFailed = true;
      });
  }

  forceFlush(): Promise<void> {
    return this.written;
  }
  shutdown(): Promise<void> {
    return this.written;
  }
}

function requestOf(span: ReadableSpan): unknown {
  const { traceId, spanId } = span.spanContext();
  const told = {
    traceId,
    spanId,
    ...(span.parentSpanContext === undefined ? {} : { parentSpanId: span.parentSpanContext.spanId }),
    name: span.name,
    kind: span.kind + 1,
    startTimeUnixNano: nanos(span.startTime),
    endTimeUnixNano: nanos(span.endTime),
    attributes: attributesOf(span.attributes),
    status: { code: span.status.code, ...(span.status.message === undefined ? {} : { message: span.status.message }) },
  };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(span.resource.attributes) },
        scopeSpans: [{ scope: { name: span.instrumentationScope.name }, spans: [told] }],
      },
    ],
  };
}

/** As seconds and nanoseconds: a plain number would be taken for one since the start of the process when it is small. */
function instantOf(ms: number): HrTime {
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
}

function nanos([seconds, rest]: HrTime): string {
  return String(BigInt(seconds) * 1_000_000_000n + BigInt(rest));
}

function attributesOf(attributes: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: unknown): unknown {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { stringValue: String(value) };
}
