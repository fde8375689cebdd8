// Where wires are signed, nothing is done that nobody would believe.
import { describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry, signedKafka, testKeys } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { ManualClock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { refund, refundCall } from '../guard/guard.testing.js';
import type { Refund } from '../guard/guard.testing.js';
import { createSignals, SIGNALS_TOPIC } from '../signals/signals.js';
import { ASSUMPTIONS_TOPIC, createProducer, EXECUTIONS_TOPIC } from './producer.js';
import type { Producer } from './producer.js';

const NOW = Date.parse('2026-05-01T12:00:00Z');
const keys = testKeys({
  agent: { role: 'producer', names: ['agent', 'planner'], tenants: ['acme'] },
  another: { role: 'producer', names: ['planner'], tenants: ['acme'] },
  elsewhere: { role: 'producer', tenants: ['globex'] },
  worker: { role: 'worker' },
  revoked: { role: 'producer', revoked_at: '2026-05-01T11:00:00Z' },
  old: { role: 'producer', valid_until: '2026-05-01T11:00:00Z' },
});

const broker = new MemoryBroker();
broker.ensureTopics([EXECUTIONS_TOPIC, ASSUMPTIONS_TOPIC, SIGNALS_TOPIC].map((name) => ({ name, partitions: 1 })));
const registry = new MemoryRegistry();
const as = (id: string): Kafka =>
  signedKafka(broker.forActor(id), {
    signer: keys.signer(id),
    keyring: () => keys.keyring,
    ownerOf: () => null,
    clock: new ManualClock(NOW),
  });
const partsOf = (id: string) => ({ kafka: as(id), codecs: createCodecs(registry.forActor(id)), registerSchemas: true });
const producerOf = (id: string): Promise<Producer> => createProducer({ ...partsOf(id), source: 'planner' });

async function refundAs(
  id: string,
  mode: 'enforce' | 'observe' = 'enforce',
): Promise<Refund & { readonly heard: string[] }> {
  const heard: string[] = [];
  const onTrouble = ({ problems }: { readonly problems: readonly { readonly message: string }[] }): void => {
    heard.push(...problems.map(({ message }) => message));
  };
  return { ...refund({ options: { producer: await producerOf(id), mode, onTrouble } }), heard };
}

const UNBELIEVED: readonly (readonly [string, string, string])[] = [
  ['speaks under another name', 'another', 'does not speak under the name agent'],
  ['speaks for another tenant', 'elsewhere', 'does not speak for the tenant acme'],
  ['speaks as a worker', 'worker', 'is not for it to say'],
  ['is revoked', 'revoked', 'the key revoked does not speak now'],
  ['has run out', 'old', 'the key old does not speak now'],
];

describe('an agent whose key', () => {
  it.each(UNBELIEVED)('%s has no effect: its call is refused before it is made', async (_, id, why) => {
    const { run, calls, heard } = await refundAs(id);
    expect(await run()).toMatchObject({ kind: 'refused', code: 'INTENT_NOT_PUBLISHED' });
    expect([calls(), heard]).toEqual([0, [expect.stringMatching(new RegExp(`^KEY_NOT_BELIEVED: .*${why}`, 'u'))]]);
  });

  it.each(UNBELIEVED)('%s hears so where its guard only observes', async (_, id, why) => {
    const { run, calls, heard } = await refundAs(id, 'observe');
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect([calls(), heard]).toEqual([1, [expect.stringContaining(why), expect.stringContaining(why)]]);
  });

  it('speaks for it acts', async () => {
    const { run, calls, heard } = await refundAs('agent');
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect([calls(), heard]).toEqual([1, []]);
  });
});

it.each(['another', 'elsewhere', 'worker', 'revoked'])(
  'what a source or a critic says that nobody would believe is refused: %s',
  async (id) => {
    const [producer, signals] = [await producerOf(id), await createSignals({ ...partsOf(id), source: 'agent' })];
    const { tenant } = refundCall.run;
    const said = { tenant, ref: 'order/1#open', source: 'warehouse', statement: {}, statedAt: NOW };
    await expect(producer.assumptionReaffirmed(said)).rejects.toMatchObject({ code: 'KEY_NOT_BELIEVED' });
    const score = { tenant, agentId: 'agent', taskKind: 'refunds', value: 1, statedAt: NOW };
    await expect(signals.score(score as never)).rejects.toMatchObject({ code: 'KEY_NOT_BELIEVED' });
  },
);
