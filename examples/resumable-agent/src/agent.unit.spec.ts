import { describe, expect, it } from '@jest/globals';
import { admissionVerdict, readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { ManualClock, MemoryEntries, MemoryProducer, MemoryResume, ResumeUnavailable } from '@recourse/sdk';
import { drive, NoWay } from './agent.js';
import type { AgentParts } from './agent.js';
import { play } from './story.js';
import { DELIVERY_BUNDLE } from './watch.js';

function stage(): AgentParts & { readonly producer: MemoryProducer; readonly source: MemoryResume } {
  const [producer, entries] = [new MemoryProducer(), new MemoryEntries()];
  entries.register('policy_bundle', 'shop', 'delivery', DELIVERY_BUNDLE);
  return {
    producer,
    entries,
    source: new MemoryResume(producer),
    clock: new ManualClock(1),
    run: { tenant: 'shop', runId: 'run-7', agentId: 'a', initiator: null, objective: 'deliver order 7' },
    order: '7',
  };
}
const against = (ref: string) =>
  ({ kind: 'observation', source: 'somebody', ref, statement: null, stated_at: 2 }) as const;

describe('an agent whose steps are checkpoints', () => {
  it('plans from the beginning, and finds everything decided when it is started again', async () => {
    const parts = stage();
    const plan = { order: '7', address: 'Mill Lane 3', warehouse: 'east', carrier: 'bicycle' };
    expect(await drive(parts)).toMatchObject({ plan, resumedWith: [], refused: [] });
    expect(await drive(parts)).toEqual({
      plan,
      resumedWith: ['address', 'warehouse', 'carrier'],
      refused: [],
      checkpoints: [],
    });
  });

  it('goes on before the offender, with the evidence, and takes another way (E11, E12, E33)', async () => {
    const { before, trigger, fallen, after } = await play(0);
    expect(trigger).toMatchObject({
      on: 'assumption',
      statement: { ref: 'warehouse/east#stocked', sourceKind: 'observation' },
    });
    expect(fallen).toEqual(before.checkpoints.slice(1));
    expect(after).toMatchObject({
      resumedWith: ['address'],
      refused: ['warehouse east: POLICY_REFUSED'],
      plan: { order: '7', address: 'Mill Lane 3', warehouse: 'west', carrier: 'van' },
    });
  });

  it('has made its carrier depend on its warehouse: run again on what is left, the gate refuses it (E15)', async () => {
    const parts = stage();
    await drive(parts);
    const gates = parts.producer.told.flatMap((told) =>
      told.type === 'CheckpointTaken' ? [told.taken.checkpoint.gate?.inputs] : [],
    );
    const inputs = readPayload(gates.at(-1)!) as { readonly gate: Json };
    const verdictOn = (state: Json): unknown => admissionVerdict(DELIVERY_BUNDLE, { gate: inputs.gate, state });
    expect(verdictOn({ order: '7', address: 'Mill Lane 3', warehouse: 'east' })).toEqual({ admitted: true });
    expect(verdictOn({ order: '7', address: 'Mill Lane 3' })).toMatchObject({
      admitted: false,
      code: 'POLICY_REFUSED',
    });
  });

  it('changes nothing while what it relied on holds', async () => {
    const { fallen, trigger, after } = await play(3);
    expect([fallen, trigger, after.checkpoints]).toEqual([[], undefined, []]);
  });

  it('keeps its warehouse when only the carrier fell', async () => {
    const parts = stage();
    const {
      checkpoints: [, , carrier = ''],
    } = await drive(parts);
    parts.source.rollBack(carrier, against('carrier/bicycle#runs'));
    expect(await drive(parts)).toMatchObject({
      resumedWith: ['address', 'warehouse'],
      plan: { warehouse: 'east', carrier: 'van' },
    });
  });

  it('stops where no way is left, and where nobody can say how its run stands', async () => {
    const parts = stage();
    const {
      checkpoints: [address = ''],
    } = await drive(parts);
    parts.source.rollBack(address, against('order/7#paid'));
    await expect(drive(parts)).rejects.toThrow(NoWay);
    parts.source.isAway = true;
    await expect(drive(parts)).rejects.toThrow(ResumeUnavailable);
  });
});
