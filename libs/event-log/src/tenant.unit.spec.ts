// Everything is somebody's: what names no tenant is parked, whoever sent it (L15).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LoopWorld, WIRE } from './loop.testing.js';
import { blocksKey, findProblem } from './parking.decisions.js';

let world: LoopWorld;

beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(() => world.stop());

const reasonOf = (body: Readonly<Record<string, unknown>>): string | null => findProblem('k', body)?.reason ?? null;

describe('a record', () => {
  it.each(['', ' ', ' acme', 'acme\t', '*'])(
    'of the tenant %j is parked with TENANT_INVALID, and holds nothing up',
    async (tenant) => {
      await world.start('a');
      const statement = {
        content_type: 'application/json',
        encoding: 'plain',
        key_id: null,
        body: Buffer.from('{}'),
        sha256: Buffer.alloc(32),
      };
      const body = { event_id: '1', tenant, ref: 'r1', run_id: null, source: 'outside', statement, stated_at: 0 };
      await world.raw(world.partitionOf('r1'), 'r1', world.codecs.encode(WIRE, 'AssumptionDeclared', body));
      await world.state([{ ref: 'r1', id: '2' }]);
      await world.until('the next of its key', async () => (await world.statements()).includes('r1:2'));
      const parked = (await world.accepted(world.partitionOf('r1'))).filter(({ type }) => type === 'RecordParked');
      expect(parked.map(({ body: { reason } }) => reason)).toEqual(['TENANT_INVALID']);
      expect(await world.statements()).toEqual(['r1:2']);
    },
  );

  it('names its tenant beside, in its checkpoint, or in the envelope of who asks', () => {
    expect(reasonOf({ tenant: 'acme' })).toBeNull();
    expect(reasonOf({ checkpoint: { tenant: '' } })).toBe('TENANT_INVALID');
    expect(reasonOf({ envelope: { tenant: '' } })).toBe('TENANT_INVALID');
    expect(reasonOf({ tenant: '', envelope: { tenant: 'acme' } })).toBe('TENANT_INVALID');
  });

  it('may be about all tenants only as a command', () => {
    expect(reasonOf({ envelope: { tenant: '*' } })).toBeNull();
    expect(reasonOf({ tenant: '*', envelope: { tenant: '*' } })).toBeNull();
    expect(reasonOf({ tenant: '*' })).toBe('TENANT_INVALID');
  });
});

describe('who a record names', () => {
  it.each(['mira\ufe0f', 'mi\u034fra', 'mira\u3164', 'mira\u2800', 'mira\u{e0061}', ' mira', 'м\u0438ра', ''])(
    'is parked with PRINCIPAL_INVALID as %j, in whatever place, and holds nothing up',
    (name) => {
      expect(reasonOf({ tenant: 'acme', initiator: name })).toBe('PRINCIPAL_INVALID');
      expect(reasonOf({ tenant: 'acme', agent_id: name })).toBe('PRINCIPAL_INVALID');
      expect(reasonOf({ checkpoint: { tenant: 'acme', initiator: name } })).toBe('PRINCIPAL_INVALID');
      expect(reasonOf({ envelope: { tenant: 'acme', principal: name } })).toBe('PRINCIPAL_INVALID');
      expect(blocksKey('PRINCIPAL_INVALID')).toBe(false);
    },
  );

  it('is nobody, or a subject', () => {
    expect(reasonOf({ tenant: 'acme', initiator: null, agent_id: 'refund-agent' })).toBeNull();
    expect(reasonOf({ envelope: { tenant: 'acme', principal: 'user:mira' } })).toBeNull();
  });
});
