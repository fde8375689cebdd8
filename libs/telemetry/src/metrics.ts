// The metrics of one process: the table of metric-table.ts over prom-client.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS } from './metric-table.js';
import type { MetricSpec } from './metric-table.js';

type NameOf<K extends MetricSpec['kind']> = {
  [N in keyof typeof METRICS]: (typeof METRICS)[N]['kind'] extends K ? N : never;
}[keyof typeof METRICS];
type LabelsOf<N extends keyof typeof METRICS> = Readonly<
  Record<(typeof METRICS)[N]['labels'][number], string | number>
>;

/** How often the lag of the event loop is taken, milliseconds: each time wakes a process that may have nothing else to do. */
const LAG_EVERY_MS = 100;
/** For so long a page is told again, milliseconds: nobody who asks for it has a token, and for each the broker and the database would be asked. */
const PAGE_MS = 250;

/** The metrics of one process. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly counters = new Map<string, Counter>();
  private readonly gauges = new Map<string, Gauge>();
  private readonly histograms = new Map<string, Histogram>();
  private refresh: (() => void | Promise<void>) | undefined;
  private made: { readonly page: Promise<string>; until: number } | null = null;

  /** `now`: milliseconds of a clock that only goes on. */
  constructor(
    labels: Readonly<Record<string, string>> = {},
    private readonly now: () => number = () => performance.now(),
  ) {
    this.registry.setDefaultLabels({ ...labels });
    for (const spec of Object.values(METRICS) as readonly MetricSpec[]) this.register(spec);
  }

  /** Event loop, memory and garbage collection of the process beside ours. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LAG_EVERY_MS });
  }

  count<N extends NameOf<'counter'>>(metric: N, labels: LabelsOf<N>, by = 1): void {
    this.counters.get(METRICS[metric].name)?.inc({ ...labels }, by);
  }

  set<N extends NameOf<'gauge'>>(metric: N, labels: LabelsOf<N>, value: number): void {
    this.gauges.get(METRICS[metric].name)?.set({ ...labels }, value);
  }

  observe<N extends NameOf<'histogram'>>(metric: N, labels: LabelsOf<N>, value: number): void {
    this.histograms.get(METRICS[metric].name)?.observe({ ...labels }, value);
  }

  /** Forgets every value of a gauge, so that what is gone is told no more. */
  clear(metric: NameOf<'gauge'>): void {
    this.gauges.get(METRICS[metric].name)?.reset();
  }

  /** Called before every read: sets gauges that are cheap to read off and costly to keep. It must not fail. */
  beforeRead(refresh: () => void | Promise<void>): void {
    this.refresh = refresh;
  }

  /** Text in the Prometheus exposition format. */
  async text(): Promise<string> {
    await this.refresh?.();
    return this.registry.metrics();
  }

  /** The text for whoever asks, however often they do: made once while it is made, and for a moment afterwards. */
  page(): Promise<string> {
    if (this.made !== null && this.now() < this.made.until) return this.made.page;
    const made = { page: this.text(), until: Infinity };
    const over = (): void => {
      made.until = this.now() + PAGE_MS;
    };
    made.page.then(over, over);
    this.made = made;
    return made.page;
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  private register({ name, kind, help, labels, buckets }: MetricSpec): void {
    const common = { name, help, labelNames: [...labels], registers: [this.registry] };
    switch (kind) {
      case 'counter':
        this.counters.set(name, new Counter(common));
        return;
      case 'gauge':
        this.gauges.set(name, new Gauge(common));
        return;
      case 'histogram':
        this.histograms.set(name, new Histogram({ ...common, ...(buckets ? { buckets: [...buckets] } : {}) }));
        return;
    }
  }
}
