// What could never be recorded is not made: an effect in a run that no record can name is one that nobody undoes.
import { describe, expect, it } from '@jest/globals';
import type { GuardedCall } from './guard.messages.js';
import { refund, refundCall } from './guard.testing.js';

/** A call as callers without types make it. */
function callWith(more: object, run: object = {}): Partial<GuardedCall> {
  return { ...more, run: { ...refundCall.run, ...run } };
}

describe('a call', () => {
  it.each<[path: string, Partial<GuardedCall>]>([
    ['/runId', callWith({}, { runId: '' })],
    ['/runId', callWith({}, { runId: 'r'.repeat(513) })],
    ['/runId', callWith({}, { runId: undefined })],
    ['/runId', callWith({}, { runId: 'a\0b' })],
    ['/tenant', callWith({}, { tenant: '*' })],
    ['/agentId', callWith({}, { agentId: 'an agent' })],
    ['/initiator', callWith({}, { initiator: '' })],
    ['/stepId', callWith({ stepId: undefined })],
    ['/target', callWith({ target: 7 })],
    ['/assumptionRefs', callWith({ assumptionRefs: 'order/4711#not_shipped' })],
    ['/assumptionRefs', callWith({ assumptionRefs: [''] })],
    ['/objective', callWith({}, { objective: 5 })],
    ['/onFailure', callWith({}, { onFailure: 'explode' })],
    ['/release', callWith({}, { release: { prompt: 5 } })],
    ['/release', callWith({}, { release: null })],
    ['/derivedFrom', callWith({ derivedFrom: 'mut_1' })],
    ['/derivedFrom', callWith({ derivedFrom: ['mut_1'] })],
    ['/producedBy', callWith({ producedBy: 5 })],
    ['/reach', callWith({ reach: 'everyone' })],
  ])('whose %s nobody could record is not made, and says where it is wrong', async (path, call) => {
    const scene = refund();
    expect(await scene.run(call)).toMatchObject({
      kind: 'refused',
      code: 'PLACE_INVALID',
      problems: [{ code: 'PLACE_INVALID', path }],
    });
    expect([scene.calls(), scene.told()]).toEqual([0, []]);
  });

  it('names all that is wrong with its place', async () => {
    const answer = await refund().run(callWith({ stepId: '' }, { runId: '', agentId: '' }));
    expect(answer.kind === 'refused' ? answer.problems.map(({ path }) => path) : []).toEqual([
      '/runId',
      '/stepId',
      '/agentId',
    ]);
  });

  it('of no run at all is not made, and is made and told to nobody where a guard only observes', async () => {
    const call = { run: undefined } as unknown as Partial<GuardedCall>;
    expect(await refund().run(call)).toMatchObject({ kind: 'refused', code: 'PLACE_INVALID' });
    expect(await refund({ options: { mode: 'observe' } }).run(call)).toMatchObject({ kind: 'succeeded' });
  });

  it.each(['', undefined])('of the run %j is made and told to nobody where a guard only observes', async (runId) => {
    const scene = refund({ options: { mode: 'observe' } });
    expect(await scene.run(callWith({}, { runId }))).toMatchObject({ kind: 'succeeded', mutation_refs: [] });
    expect([scene.calls(), scene.told(), scene.troubles]).toEqual([1, [], ['PLACE_INVALID']]);
  });
});
