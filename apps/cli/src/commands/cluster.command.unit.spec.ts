// What a cluster is made of, as the catalogue says it.
import { describe, expect, it } from '@jest/globals';
import { TOPICS } from '@recourse/messages';
import { desk } from '../desk.testing.js';
import { clusterTopics } from './cluster.command.js';

const PARTITIONS = 12;

describe('the topics of a cluster', () => {
  it('are those of the catalogue and one more for each further adapter, with one count of partitions for all that have several', () => {
    const made = clusterTopics({ partitions: PARTITIONS, replicationFactor: 3, adapters: ['payments', 'mail'] });
    expect(made.map(({ name }) => name).sort()).toEqual(
      [...TOPICS.map(({ name }) => name), 'recourse.tool-requests.mail'].sort(),
    );
    for (const { name, partitions } of made)
      expect([name, partitions]).toEqual([
        name,
        TOPICS.some((topic) => topic.name === name && !topic.partitioned) ? 1 : PARTITIONS,
      ]);
  });

  it('take a write of two copies at least where there are three', () => {
    const taken = (replicationFactor: number): ReadonlySet<string | undefined> =>
      new Set(
        clusterTopics({ partitions: 1, replicationFactor, adapters: [] }).map(
          ({ config }) => config?.['min.insync.replicas'],
        ),
      );
    expect([taken(3), taken(1)]).toEqual([new Set(['2']), new Set(['1'])]);
  });

  it('keep every record of a log', () => {
    const logs = TOPICS.filter(({ kind }) => (kind as string) !== 'wire').map(({ name }) => name as string);
    for (const { name, config } of clusterTopics({ partitions: 1, replicationFactor: 3, adapters: [] }))
      if (logs.includes(name)) expect(config).toMatchObject({ 'retention.ms': '-1', 'cleanup.policy': 'delete' });
  });
});

describe('a call', () => {
  it.each([
    ['without a count of partitions', ['make-topics']],
    ['with an adapter that is no name', ['make-topics', '--partitions', '2', '--adapters', 'Mail']],
    ['with no copies', ['make-topics', '--partitions', '2', '--replication-factor', '0']],
  ])('%s is not understood, and reaches no cluster', async (_what, args) => {
    const { call } = desk(() => undefined);
    expect(await call('cluster', ...args)).toBe(64);
  });

  it('that does not say where the registry is, is told how to', async () => {
    const { call, note } = desk(() => undefined);
    expect(await call('cluster', 'make-schemas')).toBe(64);
    expect(note()).toContain('--registry');
  });

  it('that names only half of who writes to the registry is told to name both', async () => {
    const environment = { RECOURSE_REGISTRY_URL: 'http://registry.test', RECOURSE_REGISTRY_USER: 'provisioner' };
    const { call, note } = desk(() => undefined, { environment });
    expect(await call('cluster', 'make-schemas')).toBe(64);
    expect(note()).toContain('RECOURSE_REGISTRY_PASSWORD_FILE');
  });
});
