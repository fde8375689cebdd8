// A key that the key store has lost is an outage of the store: whatever needs it waits, and nothing is parked for it (V7).
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { countingCore, LoopWorld } from './loop.testing.js';
import { MemoryKeyStore } from './sealing/key-store.memory.js';
import type { KeyStore } from './sealing/key-store.port.js';
import { Vault } from './sealing/vault.js';
import type { Doc, ServiceCore } from './service-core.js';

const BELIEVED_MS = 1_000;
const SECRET: Doc = {
  content_type: 'text/plain',
  encoding: 'plain',
  key_id: null,
  body: Buffer.from('of a person'),
  sha256: Buffer.alloc(32),
};

let world: LoopWorld;
let now: number;
beforeEach(async () => {
  now = 0;
  world = await new LoopWorld().prepare();
});
afterEach(async () => {
  await world.stop();
});

function vaultOver(store: KeyStore, drawn: number): Vault {
  return new Vault({
    store,
    windowMs: 86_400_000,
    believedMs: BELIEVED_MS,
    now: () => now,
    random: (size) => Buffer.alloc(size, drawn),
  });
}

/** Each of a ref repeats the statement that its row keeps. */
function repeating(): ServiceCore {
  const core = countingCore();
  return countingCore({
    decide: (context, input) => {
      const row = input.source === 'timer' ? undefined : context.state.get('count', input.key, 'count');
      const kept = row?.['statement'] as Doc | undefined;
      const statement = kept === undefined ? SECRET : { ...SECRET, body: Buffer.from(String(kept['body'])) };
      return {
        records: core.decide(context, input).records.map(({ type, body }) => ({ type, body: { ...body, statement } })),
      };
    },
    evolve: (state, record) =>
      core
        .evolve(state, record)
        .map((change) =>
          change.op === 'put'
            ? { op: 'put', row: { ...change.row, doc: { ...change.row.doc, statement: record.body['statement'] } } }
            : change,
        ),
  });
}

it('has what needs it wait, says so, and goes on when it is back', async () => {
  const whole = new MemoryKeyStore();
  const told = (count: number): Promise<void> =>
    world.until(`${String(count)} told`, async () => (await world.statements()).length === count);
  await world.start('a', repeating(), vaultOver(whole, 1));
  await world.state([{ ref: 'r1', id: '1' }]);
  await told(1);
  world.kill('a');
  let store: KeyStore = new MemoryKeyStore();
  const restored: KeyStore = {
    find: (ids) => store.find(ids),
    ensure: (wanted) => store.ensure(wanted),
    destroy: (erasure) => store.destroy(erasure),
    destroyUnits: (units, by, reason) => store.destroyUnits(units, by, reason),
    close: () => store.close(),
  };
  await world.start('b', repeating(), vaultOver(restored, 2));
  await world.state([{ ref: 'r1', id: '2' }]);
  await world.until('an error', () => Promise.resolve(world.events.some(isTold)));
  const at = world.partitionOf('r1');
  expect((await world.accepted(at)).map(({ type }) => type)).not.toContain('RecordParked');
  store = whole;
  now += BELIEVED_MS + 1;
  await told(2);
});

function isTold(event: LoopWorld['events'][number]): boolean {
  return event.kind === 'error' && String(event.cause).includes('KEY_STORE_UNAVAILABLE');
}
