import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import type { Keyring, KnownKey } from '@recourse/kernel';
import { workerKeys } from './workers.decisions.js';

const { publicKey } = generateKeyPairSync('ed25519');
const NOW = 1_000;
const key = (keyId: string, changes: Partial<KnownKey>): readonly [string, KnownKey] => [
  keyId,
  {
    keyId,
    roles: ['worker'],
    names: ['payments'],
    tenants: ['acme', 'globex'],
    publicKey,
    validFrom: null,
    validUntil: null,
    revokedAt: null,
    ...changes,
  },
];
const RING: Keyring = new Map([
  key('acts', {}),
  key('observes', { roles: ['observer'], tenants: ['*'], validUntil: 5_000 }),
  key('both', { roles: ['worker', 'observer'], tenants: ['globex'] }),
  key('revoked', { revokedAt: 900 }),
  key('agent', { roles: ['producer'] }),
]);

describe('the keys of workers', () => {
  it('say who acts and who observes, for which adapters, and until when', () => {
    expect(workerKeys(RING, undefined, NOW)).toEqual([
      {
        key_id: 'acts',
        acts: true,
        observes: false,
        adapters: ['payments'],
        tenants: ['acme', 'globex'],
        valid_until: null,
      },
      { key_id: 'observes', acts: false, observes: true, adapters: ['payments'], tenants: ['*'], valid_until: 5_000 },
      { key_id: 'both', acts: true, observes: true, adapters: ['payments'], tenants: ['globex'], valid_until: null },
    ]);
  });

  it('are told to a tenant for which they speak, without the names of others', () => {
    expect(workerKeys(RING, 'acme', NOW).map(({ key_id, tenants }) => [key_id, tenants])).toEqual([
      ['acts', ['acme']],
      ['observes', ['*']],
    ]);
  });
});
