// A cluster beside its plan: each way of being tampered with is named, with its mend.
import { describe, expect, it } from '@jest/globals';
import type { AccessRule } from '@recourse/kafka';
import { plannedAccess } from './access.js';
import { DIFFERENCES, differencesOf } from './differences.js';
import type { ClusterFacts, DifferenceCode } from './differences.js';
import { clusterPlanIn } from './plan.js';
import { COMPATIBILITY, plannedSubjects, plannedTopics } from './topics.js';

const PLAN = clusterPlanIn({
  partitions: 3,
  replication: 3,
  min_insync_replicas: 2,
  adapters: ['payments'],
  users: [
    { as: 'service', name: 'mutation-ledger' },
    { as: 'producer', name: 'agent' },
  ],
});
const LOG = 'recourse.mutations';

/** A cluster as planned, but for what a spec does to it. */
function cluster(change: Partial<ClusterFacts> = {}): ClusterFacts {
  return {
    topics: plannedTopics(PLAN).map(({ name, partitions, replicationFactor = 1, config = {} }) => ({
      name,
      partitions,
      replicationFactor,
      config: { ...config, 'flush.ms': '1000' },
    })),
    access: plannedAccess(PLAN),
    subjects: new Map(
      plannedSubjects(PLAN).map(({ subject }) => [subject, { compatibility: COMPATIBILITY, isCurrent: true }]),
    ),
    ...change,
  };
}

const told = (facts: ClusterFacts): readonly [DifferenceCode, string, string, string][] =>
  differencesOf(PLAN, facts).map(({ code, where, planned, found }) => [code, where, planned, found]);

const withTopic = (change: object): ClusterFacts =>
  cluster({ topics: cluster().topics.map((topic) => (topic.name === LOG ? { ...topic, ...change } : topic)) });

const SUBJECT = `${LOG}-recourse.log.Progress`;
const withSubject = (change: object | null): ClusterFacts => {
  const subjects = new Map(cluster().subjects);
  if (change === null) subjects.delete(SUBJECT);
  else subjects.set(SUBJECT, { compatibility: COMPATIBILITY, isCurrent: true, ...change });
  return cluster({ subjects });
};

const STRANGER: AccessRule = {
  principal: 'User:*',
  host: '10.0.0.1',
  permission: 'ALLOW',
  operation: 'ALL',
  resource: 'TOPIC',
  name: 'recourse.',
  pattern: 'PREFIXED',
};

describe('a cluster', () => {
  it('that is as planned has no differences, whatever else is set on it', () => {
    expect(told(cluster())).toEqual([]);
  });

  it.each([
    [{ partitions: 4 }, 'PARTITIONS_DIFFER', LOG, '3', '4'],
    [{ replicationFactor: 1 }, 'REPLICATION_DIFFERS', LOG, '3', '1'],
  ] as const)('with a topic of %j is told', (change, ...expected) => {
    expect(told(withTopic(change))).toEqual([expected]);
  });

  it.each([
    ['retention.ms', '3600000', '-1'],
    ['cleanup.policy', 'compact', 'delete'],
    ['min.insync.replicas', '1', '2'],
  ])('with another %s is told', (setting, found, planned) => {
    const config = { ...cluster().topics.find(({ name }) => name === LOG)?.config, [setting]: found };
    expect(told(withTopic({ config }))).toEqual([['SETTING_DIFFERS', `${LOG} ${setting}`, planned, found]]);
  });

  it('without a topic is told once', () => {
    expect(told(cluster({ topics: cluster().topics.filter(({ name }) => name !== LOG) }))).toEqual([
      ['TOPIC_MISSING', LOG, '3 partitions', 'no such topic'],
    ]);
  });

  it('with a rule too few or too many is told by user and resource', () => {
    const [first, ...others] = plannedAccess(PLAN);
    expect(first).toMatchObject({ operation: 'READ', name: 'recourse.tool-executions' });
    expect(told(cluster({ access: [...others, STRANGER] }))).toEqual([
      ['ACCESS_MISSING', 'User:mutation-ledger topic recourse.tool-executions', 'ALLOW READ', 'no such rule'],
      ['ACCESS_SURPLUS', 'User:* topic recourse.…', 'no such rule', 'ALLOW ALL from 10.0.0.1'],
    ]);
  });

  it('that asks nobody who they are is told, unless that is the plan', () => {
    expect(told(cluster({ access: null }))).toEqual([
      ['ACCESS_OPEN', 'cluster', 'rules of access', 'anybody may do anything'],
    ]);
    expect(differencesOf({ ...PLAN, users: null }, cluster({ access: null }))).toEqual([]);
  });

  it.each([
    [null, 'SUBJECT_MISSING'],
    [{ isCurrent: false }, 'SCHEMA_MISSING'],
    [{ compatibility: 'NONE' }, 'COMPATIBILITY_DIFFERS'],
    [{ compatibility: null }, 'COMPATIBILITY_DIFFERS'],
  ] as const)('whose subject is changed to %j is told', (change, code) => {
    expect(told(withSubject(change)).map(([what, where]) => [what, where])).toEqual([[code, SUBJECT]]);
  });

  it('is told what to do about each', () => {
    expect(differencesOf(PLAN, cluster({ topics: [], access: [], subjects: new Map() }))).not.toEqual([]);
    for (const { code, mend } of differencesOf(PLAN, cluster({ topics: [], access: [], subjects: new Map() })))
      expect(mend).toBe(DIFFERENCES[code]);
  });
});
