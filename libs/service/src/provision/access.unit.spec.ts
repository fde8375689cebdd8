// Who may do what on a broker, out of schemas/topics.json: what is told to nobody is denied.
import { describe, expect, it } from '@jest/globals';
import { TOPICS } from '@recourse/messages';
import { plannedAccess, wordsOf } from './access.js';
import type { ClusterPlan, ClusterUser } from './plan.js';

const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant', 'notifier'];
const USERS: readonly ClusterUser[] = [
  ...SERVICES.map((name) => ({ as: 'service' as const, name })),
  { as: 'producer', name: 'agent' },
  { as: 'worker', name: 'mail-worker', adapters: ['mail'] },
  { as: 'worker', name: 'payments-worker', adapters: ['payments'] },
  { as: 'consumer', name: 'loyalty' },
  { as: 'critic', name: 'judge' },
  { as: 'auditor', name: 'auditor' },
  { as: 'operator', name: 'operator' },
];
const PLAN: Pick<ClusterPlan, 'users' | 'adapters'> = { adapters: ['payments', 'mail'], users: [...USERS] };
const RULES = plannedAccess(PLAN);

/** Users that may do something to a resource, by name. */
function whoMay(operation: string, resource: string, name: string): readonly string[] {
  return RULES.filter((rule) => rule.operation === operation && rule.resource === resource && rule.name === name).map(
    ({ principal }) => principal.replace('User:', ''),
  );
}

describe('the rules of access', () => {
  it('know every word that schemas/topics.json has for a writer or a reader', () => {
    const words = new Set(TOPICS.flatMap(({ written_by, read_by }) => [...wordsOf(written_by), ...wordsOf(read_by)]));
    expect(
      [...words].filter(
        (word) => ![...SERVICES, 'producers', 'workers', 'consumers', 'critics', 'auditor'].includes(word),
      ),
    ).toEqual([]);
  });

  it.each(TOPICS.filter(({ kind }) => kind !== 'wire').map(({ name, written_by }) => [name, written_by]))(
    'let %s be written by its owner %s, who reads it too, and by nobody else',
    (topic, owner) => {
      expect(whoMay('WRITE', 'TOPIC', topic)).toEqual([owner]);
      expect(whoMay('READ', 'TOPIC', topic)).toContain(owner);
    },
  );

  it("let only an adapter's workers read what is asked of it, and only services ask", () => {
    expect(whoMay('READ', 'TOPIC', 'recourse.tool-requests.mail')).toEqual(['mail-worker']);
    expect(whoMay('READ', 'TOPIC', 'recourse.tool-requests.payments')).toEqual(['payments-worker']);
    expect(whoMay('WRITE', 'TOPIC', 'recourse.tool-requests.mail')).toEqual([
      'mutation-ledger',
      'recovery-orchestrator',
    ]);
  });

  it('let workers alone report, and consumers alone acknowledge, beside the services that hear it', () => {
    const heardBy = (topic: string): readonly string[] => whoMay('READ', 'TOPIC', topic);
    const others = (topic: string): readonly string[] =>
      whoMay('WRITE', 'TOPIC', topic).filter((name) => !heardBy(topic).includes(name));
    expect(others('recourse.tool-results')).toEqual(['mail-worker', 'payments-worker']);
    expect(others('recourse.consumer-acks')).toEqual(['loyalty']);
  });

  it('let a service send home what lies on the wrong partition of a wire that it hears (L14), and of no log', () => {
    for (const { name, kind, read_by } of TOPICS)
      for (const service of wordsOf(read_by).filter((word) => SERVICES.includes(word))) {
        const sends = whoMay('WRITE', 'TOPIC', name).includes(service);
        expect([name, service, sends]).toEqual([name, service, (kind as string) === 'wire' || sends]);
      }
  });

  it('let commands be written by the edge of their own service alone, and by critics what they may ask', () => {
    expect(whoMay('WRITE', 'TOPIC', 'recourse.recovery-commands')).toEqual(['recovery-orchestrator']);
    expect(whoMay('WRITE', 'TOPIC', 'recourse.ledger-commands')).toEqual(['mutation-ledger', 'judge']);
    expect(whoMay('WRITE', 'TOPIC', 'recourse.registry-commands')).toEqual(['contract-registry']);
    expect(whoMay('WRITE', 'TOPIC', 'recourse.budget-commands')).toEqual(['budget-accountant']);
  });

  it('let a group be joined by those it is named after, and a transaction be of its own producer', () => {
    for (const service of SERVICES) expect(whoMay('READ', 'GROUP', `recourse.${service}`)).toEqual([service]);
    expect(whoMay('READ', 'GROUP', 'mail-workers')).toEqual(['mail-worker']);
    expect(whoMay('READ', 'GROUP', 'mail-observers')).toEqual([]);
    expect(whoMay('READ', 'GROUP', 'loyalty')).toEqual(['loyalty']);
    expect(RULES.filter(({ resource }) => resource === 'TRANSACTIONAL_ID').map(({ name }) => name)).toEqual([
      'agent',
      'judge',
    ]);
  });

  it('let a service do its work under whatever name its user has', () => {
    const of = (user: ClusterUser): readonly unknown[] =>
      plannedAccess({ adapters: ['mail'], users: [user] }).map(({ principal: _name, ...right }) => right);
    for (const service of SERVICES) {
      const elsewhere = of({ as: 'service', name: `recourse-${service}-kafka`, service });
      expect(elsewhere.length).toBeGreaterThan(2);
      expect(elsewhere).toEqual(of({ as: 'service', name: service }));
    }
  });

  it('let who observes join those who observe, and who acts those who act, so that neither takes the work of the other', () => {
    const acts: ClusterUser = { as: 'worker', name: 'mail-hand', adapters: ['mail'] };
    const observes: ClusterUser = { as: 'worker', name: 'mail-eye', adapters: ['mail'], observes: true };
    const groups = plannedAccess({ adapters: ['mail'], users: [acts, observes] })
      .filter(({ resource }) => resource === 'GROUP')
      .map(({ principal, name }) => [principal, name]);
    expect(groups).toEqual([
      ['User:mail-hand', 'mail-workers'],
      ['User:mail-eye', 'mail-observers'],
    ]);
  });

  it('let the operator look at everything but what waits on wires, and change nothing', () => {
    const rights = RULES.filter(({ principal }) => principal === 'User:operator');
    expect(new Set(rights.map(({ operation }) => operation))).toEqual(
      new Set(['DESCRIBE', 'DESCRIBE_CONFIGS', 'READ']),
    );
    expect(rights.filter(({ operation }) => operation === 'READ').map(({ name }) => name)).toEqual(
      TOPICS.filter(({ kind }) => kind !== 'wire').map(({ name }) => name),
    );
  });

  it('let the auditor read every log and the wires of outsiders, and write its own log alone (A69)', () => {
    const may = (operation: string): readonly string[] =>
      RULES.filter((rule) => rule.principal === 'User:auditor' && rule.operation === operation).map(({ name }) => name);
    expect(may('WRITE')).toEqual(['recourse.signed-heads']);
    expect(may('READ')).toEqual(
      expect.arrayContaining([
        ...TOPICS.filter(({ kind }) => kind !== 'wire').map(({ name }) => name),
        'recourse.tool-executions',
        'recourse.tool-results',
      ]),
    );
    expect(may('READ')).not.toContain('recourse.recovery-commands');
  });

  it('allow by whole names only, and nobody to make, alter or delete', () => {
    expect(RULES.filter(({ pattern, permission }) => pattern !== 'LITERAL' || permission !== 'ALLOW')).toEqual([]);
    expect(RULES.filter(({ operation }) => !/^(READ|WRITE|DESCRIBE|DESCRIBE_CONFIGS)$/.test(operation))).toEqual([]);
    expect(RULES.filter(({ principal }) => principal === 'User:*')).toEqual([]);
  });

  it('are none where nobody is asked who they are', () => {
    expect(plannedAccess({ ...PLAN, users: null })).toEqual([]);
  });
});
