export { createLogger } from './logger.js';
export type { Logger, LoggerOptions } from './logger.js';
export { METRICS } from './metric-table.js';
export type { MetricSpec } from './metric-table.js';
export { Metrics } from './metrics.js';
export { NO_TRACES, traceFile } from './traces.js';
export type { SpanSpec, TraceFileOptions, Traces } from './traces.js';
