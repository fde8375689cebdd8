// An erasure over HTTP: it is on record before any key is destroyed, and nothing is destroyed that could not be recorded.
import { describe, expect, it } from '@jest/globals';
import { subjectId } from '@recourse/contract';
import type { Caller, ServiceContext } from '@recourse/service';
import { ErasuresController } from './erasures.controller.js';

const CALLER = {
  principal: { subject: 'ada', tenant: 'acme', roles: ['administrator'], accounts: [] },
  route: 'POST /v1/erasures',
  idempotencyKey: 'k-1',
} as unknown as Caller; // what the route reads of a caller

/** Notes what happens in its order; recording is answered with a status. */
function edgeOf(httpStatus: number) {
  const happened: unknown[] = [];
  const service = {
    definition: { name: 'mutation-ledger', cores: [], commandTopic: 'wire', commandLog: 'log' },
    edge: {
      submit: ({ type, key, idempotencyKey, build }: Parameters<ServiceContext['edge']['submit']>[0]) => {
        const record = build({} as Parameters<typeof build>[0]);
        happened.push({ type, key, idempotencyKey, ...record });
        return Promise.resolve({ httpStatus, body: JSON.stringify({ erasure_id: 'cmd_1' }) });
      },
    },
    keys: {
      destroy: (erasure: object) => {
        happened.push(erasure);
        return Promise.resolve(3);
      },
    },
  } as unknown as ServiceContext; // what the controller asks of a service
  return { happened, controller: new ErasuresController(service) };
}

describe('an erasure that is asked for', () => {
  it('is recorded before a key is destroyed, by an id that does not name the subject', async () => {
    const { happened, controller } = edgeOf(201);
    const answer = await controller.erase(CALLER, { subject: 'customer/7', reason: 'asked to be forgotten' });
    const subject_id = subjectId('acme', 'customer/7');
    expect(happened).toEqual([
      {
        type: 'recourse.mutations.OrderErasure',
        key: 'acme',
        idempotencyKey: 'k-1',
        envelope: {},
        subject_id,
        ended_by: null,
        reason: 'asked to be forgotten',
      },
      { tenant: 'acme', by: 'ada', reason: 'asked to be forgotten', subject: 'customer/7' },
    ]);
    expect(answer).toMatchObject({ erasure_id: 'cmd_1', subject_id, keys_destroyed: 3 });
  });

  it('is refused up to a time that is still to come, which would take all there is', async () => {
    const { happened, controller } = edgeOf(201);
    const ended_by = Date.now() + 86_400_000;
    await expect(controller.erase(CALLER, { ended_by, reason: 'retention' })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
    });
    expect(happened).toEqual([]);
  });

  it.each([
    ['the longest name of a run', `run/${'r'.repeat(512)}`],
    ['a name with control characters', 'customer/7\tb\u0007'],
  ])('reaches what an agent recorded under %s', async (_what, subject) => {
    const { happened, controller } = edgeOf(201);
    await controller.erase(CALLER, { subject, reason: 'asked to be forgotten' });
    expect(happened).toMatchObject([{ subject_id: subjectId('acme', subject) }, { subject }]);
  });

  it.each([
    ['longer than any', `run/${'é'.repeat(257)}`],
    ['with NUL', 'customer/\0'],
    ['that is no Unicode', 'customer/\ud800'],
  ])('is refused of a name %s', async (_what, subject) => {
    const { happened, controller } = edgeOf(201);
    await expect(controller.erase(CALLER, { subject, reason: 'x' })).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    expect(happened).toEqual([]);
  });

  it.each([202, 403, 503])('destroys nothing where recording is answered %s', async (httpStatus) => {
    const { happened, controller } = edgeOf(httpStatus);
    await expect(controller.erase(CALLER, { ended_by: 7, reason: 'retention' })).rejects.toMatchObject({
      code: 'ERASURE_UNRECORDED',
    });
    expect(happened).toHaveLength(1);
  });
});
