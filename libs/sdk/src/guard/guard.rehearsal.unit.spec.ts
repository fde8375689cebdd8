// A call that is only rehearsed: whatever the mode, the tool has no effect.
import { describe, expect, it } from '@jest/globals';
import { refund } from './guard.testing.js';

function scene(mode: 'off' | 'observe' | 'enforce') {
  const rehearsed: unknown[] = [];
  const { run, calls, told, troubles } = refund({
    options: { mode },
    tool: {
      rehearse: (args) => {
        rehearsed.push(args);
        return Promise.resolve({ would: 'refund' });
      },
    },
  });
  return { run, calls, told, troubles, rehearsed };
}

describe('a rehearsal', () => {
  it.each(['off', 'observe', 'enforce'] as const)(
    'makes the dry run of its tool and nothing else, in every mode: %s',
    async (mode) => {
      const { run, calls, told, rehearsed } = scene(mode);
      expect(await run({ isRehearsal: true })).toEqual({ kind: 'rehearsed', mutation_refs: [], error_kind: null });
      expect([calls(), told(), rehearsed]).toEqual([0, [], [{ order: '4711', amount_minor: 500_000 }]]);
    },
  );

  it('of a call that nobody could record acts as little, where the guard observes', async () => {
    const { run, calls, told, troubles } = scene('observe');
    expect(await run({ isRehearsal: true, stepId: '' })).toMatchObject({ kind: 'rehearsed' });
    expect([calls(), told(), troubles]).toEqual([0, [], ['PLACE_INVALID']]);
  });

  it('of a tool without a dry run calls nothing, and says so', async () => {
    const { run, calls, troubles } = refund({ options: { mode: 'off' } });
    expect(await run({ isRehearsal: true })).toMatchObject({ kind: 'rehearsed' });
    expect([calls(), troubles]).toEqual([0, ['REHEARSAL_MISSING']]);
  });
});
