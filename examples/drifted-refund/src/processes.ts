// The processes of the example, as a launcher starts them.
//
// Each prints `{"listening": port}` on a line of its own once it listens, answers GET /health with 200 when it is ready
// and 503 before, and ends on SIGTERM.
import { fileURLToPath } from 'node:url';

export interface ProcessSpec {
  readonly name: string;
  /** Path of the compiled entry. */
  readonly entry: string;
  /** Variables it needs besides PORT and DATA_DIR. */
  readonly variables: readonly string[];
  /** Variables it takes and can do without. */
  readonly optional: readonly string[];
  /** What it is to Kafka, where Kafka asks: it gets a user of its own name. Absent: it does not speak to Kafka. */
  readonly speaksAs?:
    | { readonly as: 'producer' | 'consumer' }
    /** `observes`: it looks at what other workers of its adapters did, where Kafka asks who somebody is. */
    | { readonly as: 'worker'; readonly adapters: readonly string[]; readonly observes?: true };
}

const entry = (name: string): string => fileURLToPath(new URL(`./${name}.main.js`, import.meta.url));
const KAFKA = ['RECOURSE_KAFKA_BROKERS', 'RECOURSE_REGISTRY_URL'] as const;

/** In an order in which each finds what it needs already there. */
export const PROCESSES: readonly ProcessSpec[] = [
  { name: 'payment-provider', entry: entry('payment-provider'), variables: [], optional: [] },
  {
    name: 'warehouse',
    entry: entry('warehouse'),
    variables: [...KAFKA],
    optional: ['TENANT'],
    speaksAs: { as: 'producer' },
  },
  {
    name: 'loyalty',
    entry: entry('loyalty'),
    variables: [...KAFKA, 'RECOURSE_LOG_ID'],
    optional: ['SUBSCRIBED_AS', 'TENANT'],
    speaksAs: { as: 'consumer' },
  },
  {
    name: 'worker',
    entry: entry('worker'),
    variables: [...KAFKA, 'PROVIDER_URL'],
    optional: ['WORKER_ID', 'CALL_TIMEOUT_MS', 'RECOURSE_KAFKA_VIA', 'RECOURSE_TRACE_FILE'],
    speaksAs: { as: 'worker', adapters: ['payments'] },
  },
  {
    name: 'worker-observer',
    entry: entry('worker'),
    variables: [...KAFKA, 'PROVIDER_URL', 'OBSERVES'],
    optional: ['WORKER_ID', 'CALL_TIMEOUT_MS', 'RECOURSE_TRACE_FILE'],
    speaksAs: { as: 'worker', adapters: ['payments'], observes: true },
  },
  {
    name: 'agent',
    entry: entry('agent'),
    variables: [...KAFKA, 'RECOURSE_CONTRACTS_URL', 'RECOURSE_ISSUER_URL', 'PROVIDER_URL'],
    optional: ['RECOURSE_BUDGET_URL', 'LOYALTY_URL', 'TENANT'],
    speaksAs: { as: 'producer' },
  },
];

/** Where approvers are told: beside the story, and told by the notifier alone. */
export const RECEIVER: ProcessSpec = {
  name: 'webhook-receiver',
  entry: entry('webhook-receiver'),
  variables: ['WEBHOOK_SECRET'],
  optional: [],
};
