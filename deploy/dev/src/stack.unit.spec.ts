import { describe, expect, it } from '@jest/globals';
import { suiteOf } from '../../../scripts/lib/suites.mjs';
import { countsIn, settleCounts, sumCounts } from '../../../scripts/lib/counts.mjs';
import { brokerConfig, loneConfig, memberConfig, newClusterId } from './kafka-broker.js';
import { parseMetadata } from './kafka-metadata.js';
import { stagesOf, type ProcessSpec } from './processes.js';
import { registryEnvironment } from './schema-registry.js';
import { factsIn, TEST_STACK_VARIABLE } from './test-stack.js';

const ports = { kafka: 1001, controller: 1002, registry: 1003, registryManagement: 1004 };

describe('the broker', () => {
  it('listens on this machine only, on the ports it was given', () => {
    const config = brokerConfig({ folder: '/data/kafka', ports });
    expect(config['listeners']).toBe('PLAINTEXT://127.0.0.1:1001,CONTROLLER://127.0.0.1:1002');
    expect(config['advertised.listeners']).toBe(config['listeners']);
  });

  it('makes no topic by itself', () => {
    expect(brokerConfig({ folder: '/data/kafka', ports })['auto.create.topics.enable']).toBe('false');
  });

  it('gets a cluster id of 22 characters that no tool takes for a flag', () => {
    const ids = Array.from({ length: 500 }, newClusterId);
    expect(ids.every((id) => /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/.test(id))).toBe(true);
  });

  it('is known by the cluster id and the live brokers of its answer', () => {
    const string = (text: string): Buffer => Buffer.concat([Buffer.from([0, text.length]), Buffer.from(text)]);
    const int32 = (value: number): Buffer => {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32BE(value);
      return bytes;
    };
    const frame = Buffer.concat([
      int32(1),
      int32(0),
      int32(1),
      int32(1),
      string('127.0.0.1'),
      int32(9092),
      Buffer.from([255, 255]),
      string('cluster'),
      int32(1),
      int32(1),
      Buffer.from([0, 0]),
      string('logs'),
      Buffer.from([0]),
      int32(2),
      ...[1, -1].flatMap((leader, partition) => [
        Buffer.from([0, 0]),
        ...[partition, leader, 2, 1, 2, 1, 2].map(int32),
      ]),
    ]);
    expect(parseMetadata(frame)).toEqual({
      clusterId: 'cluster',
      brokers: ['127.0.0.1:9092'],
      partitions: [
        { topic: 'logs', partition: 0, leader: '127.0.0.1:9092', inSync: 1 },
        { topic: 'logs', partition: 1, leader: null, inSync: 1 },
      ],
    });
  });

  it('counts a record alone when it is alone, and once a majority has it when there are three', () => {
    expect(loneConfig({ ports })).toMatchObject({ 'min.insync.replicas': '1', 'default.replication.factor': '1' });
    expect(memberConfig({ id: 2, controllers: [11, 12, 13] })).toMatchObject({
      'node.id': '2',
      'controller.quorum.voters': '1@127.0.0.1:11,2@127.0.0.1:12,3@127.0.0.1:13',
      'unclean.leader.election.enable': 'false',
      'min.insync.replicas': '2',
      'default.replication.factor': '3',
      'offsets.topic.replication.factor': '3',
    });
  });
});

describe('the registry', () => {
  it('keeps its management interface on this machine too', () => {
    expect(registryEnvironment({ folder: '/data/registry', ports })).toMatchObject({
      QUARKUS_HTTP_HOST: '127.0.0.1',
      QUARKUS_MANAGEMENT_HOST: '127.0.0.1',
    });
  });
});

describe('processes on top of the stack', () => {
  const spec = (name: string, stage?: number): ProcessSpec => ({
    name,
    entry: `/${name}.js`,
    readyUrl: null,
    ...(stage === undefined ? {} : { stage }),
  });

  it('start stage by stage, lowest first', () => {
    expect(
      stagesOf([spec('worker', 2), spec('registry'), spec('ledger'), spec('agent', 1)]).map((stage) =>
        stage.map(({ name }) => name),
      ),
    ).toEqual([['registry', 'ledger'], ['agent'], ['worker']]);
  });
});

describe('the facts of a shared stack', () => {
  it('come from the environment', () => {
    const facts = {
      kafka: { brokers: ['127.0.0.1:1'], clusterId: 'c' },
      registryUrl: 'http://127.0.0.1:2',
      postgres: { host: '127.0.0.1', port: 3, user: 'u', password: 'p' },
    };
    expect(factsIn({ [TEST_STACK_VARIABLE]: JSON.stringify(facts) })).toEqual(facts);
    expect(factsIn({})).toBeNull();
  });
});

describe('the suite of a spec', () => {
  it.each([
    ['libs/kernel/src/ids.unit.spec.ts', 'unit'],
    ['libs/kafka/src/kafka.contract.spec.ts', 'contract'],
    ['test/architecture/tidy.spec.ts', 'unit'],
    ['test/issues/lost-ack.spec.ts', 'unit'],
    ['test/e2e/story.e2e.spec.ts', 'e2e'],
    ['libs/kernel/src/orphan.spec.ts', null],
    ['libs/kafka/src/kafka.contract.ts', null],
  ])('of %s is %s', (path, kind) => {
    expect(suiteOf(path)).toBe(kind);
  });
});

describe('the counts of a suite', () => {
  it('are the last line of that form', () => {
    expect(countsIn('3 passed, 1 failed\nmore\n10 passed, 0 failed\nbye')).toEqual({ passed: 10, failed: 0 });
    expect(countsIn('all fine')).toBeNull();
  });

  it('hold a failure when the program ended badly', () => {
    expect(settleCounts(null, 1)).toEqual({ passed: 0, failed: 1 });
    expect(settleCounts({ passed: 5, failed: 0 }, 1)).toEqual({ passed: 5, failed: 1 });
    expect(settleCounts({ passed: 5, failed: 2 }, 1)).toEqual({ passed: 5, failed: 2 });
    expect(settleCounts(null, 0)).toEqual({ passed: 1, failed: 0 });
  });

  it('add up', () => {
    expect(
      sumCounts([
        { passed: 1, failed: 0 },
        { passed: 2, failed: 3 },
      ]),
    ).toEqual({ passed: 3, failed: 3 });
  });
});
