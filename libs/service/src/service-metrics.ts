// The metrics of a service's process: counters that begin at 0, and gauges that are set when somebody asks.
import type { ServiceCore, ServiceRuntime } from '@recourse/event-log';
import { Metrics } from '@recourse/telemetry';
import { beginCounters, gauge } from './runtime-events.js';
import { StandingGauges } from './standing-gauges.js';
import type { StandingGaugesOptions } from './standing-gauges.js';

export interface MeasuredService {
  readonly name: string;
  readonly cores: readonly Pick<ServiceCore, 'log' | 'inputs'>[];
  /** Begins counters of its own: counts nothing, by each label that is known beforehand. */
  readonly begin?: (metrics: Pick<Metrics, 'count'>) => void;
}

export function metricsOf({ name, cores, begin }: MeasuredService): Metrics {
  const metrics = new Metrics({ service: name });
  metrics.collectProcess();
  beginCounters(cores, metrics);
  begin?.(metrics);
  return metrics;
}

export interface StandingOptions extends Pick<StandingGaugesOptions, 'logs' | 'reader' | 'parkedOpen'> {
  readonly metrics: Metrics;
  /** Sets gauges of the service's own. */
  readonly gauges: ((metrics: Pick<Metrics, 'set' | 'clear'>) => Promise<void>) | undefined;
}

/** Gauges that are read off the loops and the database when somebody asks for metrics. */
export function standingOf(
  runtime: Pick<ServiceRuntime, 'loops'>,
  { gauges, ...options }: StandingOptions,
): StandingGauges {
  const { metrics, logs } = options;
  const own = gauges === undefined ? {} : { own: () => gauges(metrics) };
  const standing = new StandingGauges({ ...options, ...own, loops: () => runtime.loops() });
  metrics.beforeRead(async () => {
    const loops = runtime.loops().map((loop) => loop.health());
    gauge({ logs, loops }, metrics, Date.now());
    await standing.refresh();
  });
  return standing;
}
