export { logUnknown } from './config-warnings.js';
export { createLogger } from './logger.js';
export type { Logger } from './logger.js';
export { METRICS } from './metric-table.js';
export { Metrics } from './metrics.js';
export { NO_TRACES, traceFile } from './traces.js';
export type { SpanSpec, Traces } from './traces.js';
