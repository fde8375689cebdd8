// Who speaks to a secure stack: one user each, and as what.
import { describe, expect, it } from '@jest/globals';
import { PROCESSES } from '@recourse/example-drifted-refund';
import { LITTLE_PROCESSES } from '@recourse/example-little-services';
import { secureConfig } from './kafka-broker.js';
import { SERVICES } from './system.plan.js';
import { usersOf } from './users.js';

describe('the users of a secure stack', () => {
  it('are one for each service, program and adapter, and none twice', () => {
    const users = usersOf([...PROCESSES, ...LITTLE_PROCESSES], ['payments', 'mail']);
    const names = users.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([...SERVICES, 'notifier', 'operator', 'warehouse', 'loyalty', 'payments-worker']),
    );
    expect(users).toContainEqual({ as: 'worker', name: 'mail-worker', adapters: ['mail'] });
    expect(users).toContainEqual({ as: 'worker', name: 'worker', adapters: ['payments'] });
    expect(users).toContainEqual({ as: 'worker', name: 'worker-observer', adapters: ['payments'], observes: true });
    expect(users).toContainEqual({ as: 'consumer', name: 'loyalty' });
  });

  it('are one for agents and sources, and one for consumers, also where no story brings its own', () => {
    expect(usersOf([], [])).toEqual(
      expect.arrayContaining([
        { as: 'producer', name: 'agent' },
        { as: 'consumer', name: 'consumer' },
      ]),
    );
  });

  it('are none for a program that does not speak to Kafka', () => {
    const names = usersOf([...PROCESSES, ...LITTLE_PROCESSES], []).map(({ name }) => name);
    expect(names.filter((name) => ['payment-provider', 'services'].includes(name))).toEqual([]);
  });
});

describe('a broker that asks who somebody is', () => {
  const config = secureConfig({ ports: { kafka: 1, controller: 2 } }, { name: 'stack', password: 'secret' });

  it('has no listener without SASL, lets nobody do what no rule allows, and sets nobody above the rules but the stack', () => {
    expect(config['listener.security.protocol.map']).toBe('CLIENTS:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT');
    expect(config['allow.everyone.if.no.acl.found']).toBe('false');
    expect(config['super.users']).toBe('User:stack');
    expect(config['authorizer.class.name']).toContain('StandardAuthorizer');
  });
});
