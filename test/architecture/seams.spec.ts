// The five seams of the loop (D24): what stands behind each may be exchanged, and each has a twin in memory that passes the suite of the real one.
import { describe, expect, it } from '@jest/globals';
import { filesBelow, textOf } from './tree.testing.js';

interface Seam {
  /** What it is in this code base. */
  readonly port: string;
  readonly name: string;
  /** The real one and the twin, each by its file and what it is called there. */
  readonly real: readonly [file: string, name: string];
  readonly twin: readonly [file: string, name: string];
  /** Suite, and the calls of it that hold twin and real one to it. */
  readonly suite: string;
  readonly runs: readonly (readonly [spec: string, call: string])[];
}

const SEAMS: Readonly<Record<string, Seam>> = {
  'store: rows and head of a partition, a cache of the log': {
    port: 'libs/event-log/src/store.port.ts',
    name: 'PartitionStore',
    real: ['libs/service/src/outbound/postgres-store.ts', 'implements PartitionStore'],
    twin: ['libs/event-log/src/memory-store.ts', 'implements PartitionStore'],
    suite: 'libs/event-log/src/store.contract.ts',
    runs: [
      ['libs/event-log/src/store.contract.spec.ts', 'describeStore({'],
      ['libs/service/src/outbound/postgres-store.contract.spec.ts', 'describeStore({'],
    ],
  },
  'dispatcher: what sends the requests that accepted records owe': {
    port: 'libs/kafka/src/kafka.port.ts',
    name: 'WireProducer',
    real: ['libs/kafka/src/platformatic/wire-producer.kafka.ts', 'implements WireProducer'],
    twin: ['libs/kafka/src/memory/producers.memory.ts', 'implements WireProducer'],
    suite: 'libs/kafka/src/kafka.contract.ts',
    runs: [
      ['libs/kafka/src/kafka.contract.spec.ts', "kafkaContract('memory'"],
      ['libs/kafka/src/kafka.contract.spec.ts', "kafkaContract('broker'"],
    ],
  },
  'reversal runner: the tools that a worker calls': {
    port: 'libs/sdk/src/tool/tool.ts',
    name: 'Tool',
    real: ['examples/drifted-refund/src/worker/payment-tools.ts', 'Tool'],
    twin: ['libs/sdk/src/worker/tool.memory.ts', 'Record<string, Tool>'],
    suite: 'libs/sdk/src/drill/tool.contract.ts',
    runs: [
      ['libs/sdk/src/drill/tool.contract.spec.ts', "toolContract('memory'"],
      ['libs/sdk/src/drill/tool.contract.spec.ts', "toolContract('http'"],
    ],
  },
  'approval resolver: who asks people, and takes their answer': {
    port: 'libs/sdk/src/guard/approval.port.ts',
    name: 'Approvals',
    real: ['libs/sdk/src/guard/approval.http.ts', 'implements Approvals'],
    twin: ['libs/sdk/src/guard/approval.memory.ts', 'implements Approvals'],
    suite: 'libs/sdk/src/guard/approval.contract.ts',
    runs: [
      ['libs/sdk/src/guard/guard-ports.contract.spec.ts', "approvalsContract('memory'"],
      ['libs/sdk/src/guard/guard-ports.contract.spec.ts', "approvalsContract('http'"],
    ],
  },
  'decision store: the log itself, whole batches or none': {
    port: 'libs/kafka/src/kafka.port.ts',
    name: 'LogProducer',
    real: ['libs/kafka/src/platformatic/log-producer.kafka.ts', 'implements LogProducer'],
    twin: ['libs/kafka/src/memory/producers.memory.ts', 'implements LogProducer'],
    suite: 'libs/kafka/src/kafka.contract.ts',
    runs: [
      ['libs/kafka/src/kafka.contract.spec.ts', "kafkaContract('memory'"],
      ['libs/kafka/src/kafka.contract.spec.ts', "kafkaContract('broker'"],
    ],
  },
};

const sources = new Set([...filesBelow('libs'), ...filesBelow('examples')].filter((path) => path.endsWith('.ts')));
const says = (path: string, word: string): boolean => sources.has(path) && textOf(path).includes(word);

describe('the seams of the loop', () => {
  it('are five', () => {
    expect(Object.keys(SEAMS)).toHaveLength(5);
  });

  it.each(Object.entries(SEAMS))('%s: has a port', (_seam, { port, name }) => {
    expect(says(port, `export interface ${name}`) || says(port, `export type ${name} `)).toBe(true);
  });

  it.each(Object.entries(SEAMS))('%s: has what is real, and a twin in memory', (_seam, { real, twin }) => {
    expect([real, twin].filter(([file, name]) => !says(file, name))).toEqual([]);
    expect(twin[0]).toMatch(/memory/);
  });

  it.each(Object.entries(SEAMS))('%s: has a suite that both pass', (_seam, { suite, runs }) => {
    expect(sources.has(suite)).toBe(true);
    expect(runs).toHaveLength(2);
    expect(runs.filter(([spec, call]) => !says(spec, call))).toEqual([]);
    const suiteName = suite.slice(suite.lastIndexOf('/') + 1).replace(/\.ts$/, '.js');
    expect(runs.filter(([spec]) => !textOf(spec).includes(suiteName))).toEqual([]);
  });
});
