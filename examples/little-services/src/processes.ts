// The processes of the little services, as a launcher starts them.
import { fileURLToPath } from 'node:url';
import type { ProcessSpec } from '@recourse/example-drifted-refund';
import { ADAPTERS } from './adapters/capabilities.js';

const entry = (name: string): string => fileURLToPath(new URL(`./${name}.main.js`, import.meta.url));

export const LITTLE_PROCESSES: readonly ProcessSpec[] = [
  { name: 'services', entry: entry('services'), variables: [], optional: [] },
  {
    name: 'services-worker',
    entry: entry('worker'),
    variables: ['RECOURSE_KAFKA_BROKERS', 'RECOURSE_REGISTRY_URL', 'SERVICES_URL', 'ADAPTERS'],
    optional: [],
    speaksAs: { as: 'worker', adapters: ADAPTERS },
  },
];
