// What a process appended is news to its own readers at once, and once.
import { afterEach, describe, expect, it } from '@jest/globals';
import type { GateOperation } from '@recourse/kafka';
import { countingCore, LOG_ID, LoopWorld, PARTITIONS } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import { append } from './service-core.js';
import type { AcceptedRecord, Derived, Doc, ServiceCore } from './service-core.js';

const DERIVED = 'recourse.rollback-notifications';

/** A notice of each statement that is not itself of a notice. */
function derive({ type, body }: AcceptedRecord): readonly Derived[] {
  if (type !== 'AssumptionStated' || body['source'] === 'notice') return [];
  const { event_id: id } = body;
  const member = { mutation_id: id, rollback_id: id, subject_ref: null, derived_from: [] };
  const told = { tenant: 'acme', run_id: 'run-1', members: [{ ...member, recoverability: 'compensated', reason: '' }] };
  return [{ key: 'run-1', type: 'RollbackSettled', body: told }];
}

/** States by whom each notice was heard: every partition hears all of them. */
function hearingCore(): ServiceCore {
  const plain = countingCore({ derived: { topic: DERIVED, derive } });
  return {
    ...plain,
    inputs: [...plain.inputs, { topic: DERIVED, source: 'log', mode: 'broadcast', types: ['RollbackSettled'] }],
    decide: (context, input) => {
      if (input.source !== 'log') return plain.decide(context, input);
      const [member] = input.body['members'] as readonly Doc[]; // made above
      const event_id = `${String(member?.['mutation_id'])} at ${String(context.partition)}`;
      return append(stated({ event_id, ref: 'r1', source: 'notice' }));
    },
  };
}

const stated = (said: Doc) => ({
  type: 'AssumptionStated',
  body: {
    ...{ tenant: 'acme', run_id: null, stated_at: 0, verdict: 'holds', superseded: false },
    ...{ kind: 'declared', source_kind: 'observation', content_sha256: Buffer.alloc(32) },
    statement: {
      ...{ content_type: 'application/json', encoding: 'plain', key_id: null },
      ...{ body: Buffer.from('{}'), sha256: Buffer.alloc(32) },
    },
    ...said,
  },
});

const worlds: LoopWorld[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.stop()));
});

async function worldOf(): Promise<LoopWorld> {
  const world = await new LoopWorld(hearingCore()).prepare();
  worlds.push(world);
  return world;
}

const isBack = ({ kind, topic }: GateOperation): boolean => kind === 'deliver' && topic === DERIVED;
const heardBy = (id: string): readonly string[] => [`r1:${id} at 0`, `r1:${id} at 1`];

describe('what a process appended to a log that it reads', () => {
  it('is decided before the broker hands it back', async () => {
    const world = await worldOf();
    world.verdicts.push((operation) => (isBack(operation) ? new Promise(() => undefined) : undefined));
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('both heard', async () => (await world.statements()).length === 3);
    await world.state([{ ref: 'r2', id: '2' }]);
    await world.until('both heard again', async () => (await world.statements()).length === 6);
    expect(await world.statements()).toEqual(['r1:1', 'r2:2', ...heardBy('1'), ...heardBy('2')].sort());
  });

  it('is decided once when the broker has handed it back as well', async () => {
    const world = await worldOf();
    let handed = 0;
    world.verdicts.push((operation) => {
      if (isBack(operation)) handed += 1;
      return undefined;
    });
    await world.start('a');
    for (const id of ['1', '2', '3']) await world.state([{ ref: 'r1', id }]);
    await world.until('all heard, and handed back', async () => handed > 0 && (await world.statements()).length >= 9);
    expect(await world.statements()).toEqual(['r1:1', 'r1:2', 'r1:3', ...['1', '2', '3'].flatMap(heardBy)].sort());
  });

  it('is left to the broker by who has not read what stands before it', async () => {
    const world = await worldOf();
    const partition = world.partitionOf('r1');
    const reached: (readonly string[])[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.verdicts.push((operation) => (isBack(operation) ? held.then(() => 'proceed' as const) : undefined));
    const others = new OwnLog({
      ...{ kafka: world.broker.forActor('others'), codecs: world.codecs, logId: LOG_ID },
      ...{ topic: DERIVED, partition, partitionCount: PARTITIONS },
    });
    const strange = others.seal(0);
    for (const one of derive({ ...stated({ event_id: '0', ref: 'r1', source: 'outside' }), ...NOWHERE }))
      strange.add(one, one.key, { source_seq: 0, source_index: 0 });
    expect(await others.append(strange)).toBe('accepted');
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('a notice of ours behind that of others', async () => {
      return (await world.accepted(partition, DERIVED)).length === 2;
    });
    reached.push(await world.statements());
    release();
    await world.until('both heard of both', async () => (await world.statements()).length === 5);
    reached.push(await world.statements());
    expect(reached).toEqual([['r1:1'], ['r1:1', ...heardBy('0'), ...heardBy('1')].sort()]);
  });
});

const NOWHERE = { seq: 0, hash: Buffer.alloc(32), prevHash: Buffer.alloc(32), decidedAt: 0 };
