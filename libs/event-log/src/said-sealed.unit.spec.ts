// What a wire says is sealed names a key of anybody's: it is parked, whoever sent it (L15).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { LoopWorld, WIRE } from './loop.testing.js';
import { blocksKey, findProblem } from './parking.decisions.js';

let world: LoopWorld;

beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(() => world.stop());

const theirs = { ...plainPayload({ diagnosis: 'F32.1' }), encoding: 'sealed' as const, key_id: 'key_of_globex.1' };
const reasonOf = (body: Readonly<Record<string, unknown>>): string | null => findProblem('k', body)?.reason ?? null;

describe('a payload that a record of a wire says is sealed', () => {
  it('parks its record, and holds nothing up', async () => {
    await world.start('a');
    const said = { event_id: '1', tenant: 'acme', ref: 'r1', run_id: null, source: 'outside', stated_at: 0 };
    const value = world.codecs.encode(WIRE, 'AssumptionDeclared', { ...said, statement: theirs });
    await world.raw(world.partitionOf('r1'), 'r1', value);
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('the next of its key', async () => (await world.statements()).includes('r1:2'));
    const parked = (await world.accepted(world.partitionOf('r1'))).filter(({ type }) => type === 'RecordParked');
    expect(parked.map(({ body: { reason } }) => reason)).toEqual(['PAYLOAD_SEALED']);
    expect(await world.statements()).toEqual(['r1:2']);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['beside', { statement: theirs }],
    ['in a part', { execution: { args: theirs } }],
    ['in a list', { steps: [{ observed: plainPayload({}) }, { observed: theirs }] }],
    ['in a command', { envelope: { tenant: 'acme', principal: 'user:mira' }, evidence: theirs }],
    ['with no key', { statement: { ...theirs, key_id: null } }],
    ['in a way nobody knows', { statement: { ...theirs, encoding: 'unrecognized' } }],
  ])('is found %s', (_, body) => {
    expect(reasonOf({ tenant: 'acme', ...body })).toBe('PAYLOAD_SEALED');
    expect(blocksKey('PAYLOAD_SEALED')).toBe(false);
  });

  it('is no payload in the clear', () => {
    expect(reasonOf({ tenant: 'acme', statement: plainPayload({}), steps: [{ observed: null }] })).toBeNull();
  });
});
