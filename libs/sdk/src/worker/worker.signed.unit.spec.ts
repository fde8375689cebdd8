// Where wires are signed, a worker acts on what our services asked for, and on nothing else.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { signedKafka, testKeys } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { MemoryPositionStore } from '../stores/position-store.memory.js';
import { legOf } from './legs.testing.js';
import { turns, WorkerStage } from './worker.testing.js';
import { RESULTS_TOPIC } from './worker.js';

const keys = testKeys({
  orchestrator: { role: 'service', names: ['recovery-orchestrator'] },
  accountant: { role: 'service', names: ['budget-accountant'] },
  worker: { role: 'worker', names: ['payments'] },
  observer: { role: 'observer', names: ['payments'] },
  limited: { role: 'worker', names: ['payments'], tenants: ['globex'] },
  agent: { role: 'producer' },
  elsewhere: { role: 'worker', names: ['mail'] },
});

let stage: WorkerStage;
beforeEach(() => {
  stage = new WorkerStage();
  stage.clusterOf = (name) => as('worker', name);
});
afterEach(() => stage.stop());

function as(id: string, actor = id): Kafka {
  return signedKafka(stage.broker.forActor(actor), {
    signer: keys.signer(id),
    keyring: () => keys.keyring,
    ownerOf: () => null,
    clock: stage.clock,
  });
}

const refusals = (): readonly string[] => stage.notes.flatMap((note) => (note.type === 'refused' ? [note.reason] : []));

describe('a worker on signed wires', () => {
  it('acts on what the orchestrator asked for, and signs what it reports', async () => {
    await stage.start();
    await stage.askAs(as('orchestrator'), {}, legOf());
    await stage.reports(1);
    expect(stage.provider.reversals).toBe(1);
    const [reported] = (
      await Promise.all(
        [0, 1].map(
          async (partition) => (await (await as('orchestrator').rawReader()).read(RESULTS_TOPIC, partition, 0)).records,
        ),
      )
    ).flat();
    expect(reported?.voucher).toMatchObject({ kind: 'vouched', speaker: { roles: ['worker'], names: ['payments'] } });
  });

  it.each([
    ['nobody signed', () => stage.broker.forActor('stranger'), 'SIGNATURE_MISSING'],
    ['a worker signed', () => as('worker', 'other'), 'SPEAKER_MISMATCH'],
    ['a service signed that asks no worker', () => as('accountant'), 'SPEAKER_MISMATCH'],
  ])('does nothing about what %s, says so, and goes on', async (_who, asker, reason) => {
    await stage.start();
    await stage.askAs(asker(), {}, legOf({ leg_id: 'forged' }));
    await stage.askAs(as('orchestrator'), {}, legOf());
    const reports = await stage.reports(1);
    await turns();
    expect(reports.map(({ leg_id }) => leg_id)).toEqual(['leg_1']);
    expect(stage.provider.reversals).toBe(1);
    expect(refusals()).toEqual([reason]);
  });
});

it('does nothing for a tenant that its own key does not speak for, whoever asks: what it did would be believed of nobody', async () => {
  stage.clusterOf = (name) => as('limited', name);
  await stage.start();
  await stage.askAs(as('orchestrator'), {}, legOf({ leg_id: 'foreign' }));
  await stage.askAs(as('orchestrator'), {}, legOf({ tenant: 'globex' }));
  const reports = await stage.reports(1);
  await turns();
  expect(reports.map(({ leg_id }) => leg_id)).toEqual(['leg_1']);
  expect([stage.provider.reversals, refusals()]).toEqual([1, ['TENANT_FOREIGN']]);
});

describe('a worker whose key nobody believes', () => {
  const troubles = (): readonly string[] =>
    stage.notes.flatMap((note) => (note.type === 'trouble' ? [String(note.cause)] : []));

  it.each([
    ['is an agent’s', 'agent'],
    ['speaks for another adapter', 'elsewhere'],
    ['is an observer’s', 'observer'],
  ])('since it %s, does nothing and says so', async (_, id) => {
    stage.clusterOf = (name) => as(id, name);
    await stage.start();
    await stage.askAs(as('orchestrator'), {}, legOf());
    await turns(100);
    expect([stage.provider.calls, troubles()[0]]).toEqual([[], expect.stringContaining('KEY_NOT_BELIEVED')]);
  });

  it('does nothing while it is revoked, and begins no further step; once it is believed again it goes on', async () => {
    let trouble: Failure | null = null;
    stage.clusterOf = (name) =>
      signedKafka(stage.broker.forActor(name), {
        signer: keys.signer('worker'),
        keyring: () => keys.keyring,
        ownerOf: () => null,
        clock: stage.clock,
        trouble: () => trouble,
      });
    await stage.start();
    trouble = new Failure('KEY_NOT_BELIEVED', 'revoked');
    await stage.askAs(as('orchestrator'), {}, legOf({ not_after: 60_000 }));
    await turns(100);
    expect([stage.provider.calls, troubles()]).toEqual([[], ['Failure: KEY_NOT_BELIEVED: revoked']]);
    trouble = null;
    await stage.clock.advance(1_000);
    await stage.reports(1);
    expect(stage.provider.reversals).toBe(1);
  });
});

describe('a worker that observes what others did', () => {
  it('answers what is asked of observers and nothing else, as a worker that acts leaves that to it', async () => {
    stage.clusterOf = (name) => as(name === 'eye' ? 'observer' : 'worker', name);
    await stage.start();
    await stage.start('eye', { isObserver: true, groupId: 'observers', positions: new MemoryPositionStore() });
    await stage.askAs(as('orchestrator'), {}, legOf());
    await stage.askAs(as('orchestrator'), {}, legOf({ leg_id: 'seen', kind: 'observe', for_observer: true }));
    const reports = await stage.reports(2);
    await turns();
    expect(reports.map(({ leg_id, worker_id }) => [leg_id, worker_id]).sort()).toEqual([
      ['leg_1', 'worker'],
      ['seen', 'eye'],
    ]);
    expect(stage.provider.reversals).toBe(1);
  });
});
