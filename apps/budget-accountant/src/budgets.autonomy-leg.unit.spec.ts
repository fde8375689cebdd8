// Many effects of one leg that are taken back at once: one record for each standing, and it fits a batch (D36, L4).
import { describe, expect, it } from '@jest/globals';
import type { Doc } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  accountant,
  AGENT,
  judged,
  praised,
  REFUNDS,
  register,
  retire,
  standingOf,
  undone,
  undoneBy,
} from './budgets.autonomy.testing.js';
import { mutationOf, recorded } from './budgets.testing.js';

const effects = (count: number, name = 'e'): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${name}${String(at)}`);

/** What a broker takes in one message, less what the request needs (L4). */
const BYTES_MAX = 900_000;
const CHAIN = { seq: 1, prev_hash: Buffer.alloc(32), decided_at: 1, source_seq: 1, source_index: 0 };

async function bytesOf(told: readonly { readonly type: string; readonly body: Doc }[]): Promise<number> {
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter('recourse.budgets', { register: true });
  return told
    .map(({ type, body }) => codecs.encode('recourse.budgets', type as 'AutonomyChanged', { ...body, ...CHAIN }).length) // of this log
    .reduce((sum, length) => sum + length, 0);
}

describe.each(WAYS)('effects of one leg that are taken back, $way', ({ isRebuilt }) => {
  const POLICY = { corrections: { count: 100, window_ms: 1_000_000 } };

  /** What is earned, but for the ids of what was said. */
  const earned = (desk: CoreHarness): object => ({ ...standingOf(desk), signals: null });

  it('change what was earned once for each kind of task, as each alone would have', () => {
    const { desk } = accountant(isRebuilt, POLICY);
    const { desk: other } = accountant(isRebuilt, POLICY);
    praised(desk)
      .when(undone('a', 'b', 'c'), 2_000)
      .then(fact('AutonomyChanged', { cause: 'compensation_verified', mutation_id: mutationOf('c') }));
    praised(other);
    for (const effect of ['a', 'b', 'c']) other.when(undone(effect), 2_000);
    expect(earned(desk)).toEqual(earned(other));
    for (const effect of ['a', 'b', 'c'])
      desk
        .when(judged(effect, false), 3_000)
        .then(fact('AutonomyChanged', { cause: 'false_trigger', mutation_id: mutationOf(effect) }));
    expect(standingOf(desk)).toMatchObject({ undone: [], corrections: [] });
  });

  it('say as what was earned before them what was so before the first', () => {
    const { desk } = accountant(isRebuilt, { undone_permille: 500 });
    praised(desk)
      .when(undone('a', 'b', 'c'), 2_000)
      .then(fact('AutonomyChanged', { before: 'execute_with_approval' }));
  });

  it('count at one standing however the name of their agent is spelt, which is listed as it was spelt at first', () => {
    const { desk } = accountant(isRebuilt, POLICY);
    desk.when(undoneBy({ a: 'Agent-7', b: 'agent-7', c: 'agent:agent-7' }), 2_000);
    expect(desk.rows('autonomy').map(({ doc }) => doc)).toMatchObject([
      { agent_id: 'Agent-7', undone: { length: 3 }, corrections: { length: 3 } },
    ]);
  });

  it('fit a batch, with their refund, however many there are and whatever stood before', async () => {
    const { desk, entries, digest } = accountant(isRebuilt, POLICY);
    register(entries, POLICY, 'second_kind');
    register(entries, POLICY, 'third_kind');
    praised(desk).when(undone(...effects(150, 'before')), 2_000);
    const members = effects(64);
    for (const effect of members.slice(0, 8)) desk.when(recorded(effect, 5, { digest, capability: REFUNDS }), 2_500);
    desk.when(undone(...members), 3_000);
    const { records } = desk.decision();
    expect(records.map(({ type }) => type)).toEqual(['BudgetRefunded', ...Array(3).fill('AutonomyChanged')]);
    expect(standingOf(desk)).toMatchObject({ undone: { length: 100 }, corrections: { length: 100 } });
    expect(await bytesOf(records as readonly { type: string; body: Doc }[])).toBeLessThan(BYTES_MAX); // as they are written
  });

  it('fit a batch also where all that is kept is as much as may be: a part is of thirty-two standings', async () => {
    const { desk } = accountant(isRebuilt, POLICY);
    praised(desk).when(undone(...effects(150, 'before')), 2_000);
    const { records } = desk.when(undone('a'), 3_000).decision();
    expect(records.map(({ type }) => type)).toEqual(['AutonomyChanged']);
    expect(standingOf(desk)).toMatchObject({ undone: { length: 100 }, corrections: { length: 100 } });
    expect(32 * (await bytesOf(records))).toBeLessThan(BYTES_MAX / 2);
  });

  describe('at more kinds of task than a batch holds', () => {
    const KINDS = Array.from({ length: 36 }, (_, at) => `kind_${String(at)}`);
    const wide = (leg = undone('a', 'b')) => {
      const { desk, entries } = accountant(isRebuilt, null);
      for (const kind of KINDS) register(entries, POLICY, kind);
      return { desk: desk.when(leg, 2_000), entries };
    };
    /** Once: a leg that never ends is to be seen, and not to be waited for. */
    const goneOn = (desk: CoreHarness): CoreHarness =>
      desk.when(desk.timer('undone_leg', desk.rows('undone_leg')[0]?.key ?? ''), 2_000);
    const told = (desk: CoreHarness): readonly Doc[] => desk.recorded().map(({ body }) => body);
    const kindsOf = (bodies: readonly Doc[]): string[] => bodies.map((body) => String(body['task_kind']));

    it('count in parts, and at each kind of task once', () => {
      const { desk } = wide();
      const first = told(desk);
      const others = told(goneOn(desk));
      expect([first.length, others.length]).toEqual([32, 4]);
      expect([...first, ...others].map(({ remaining }) => (remaining as readonly Doc[]).length)).toEqual(
        Array.from({ length: 36 }, (_, at) => (at === 31 ? 2 : 0)),
      );
      expect(kindsOf([...first, ...others]).sort()).toEqual([...KINDS].sort());
      for (const kind of KINDS)
        expect(standingOf(desk, kind)).toMatchObject({ undone: { length: 2 }, corrections: { length: 2 } });
      expect(desk.rows('undone_leg')).toEqual([]);
    });

    it('count at each kind of task in full, however the name of their agent is spelt', () => {
      const { desk } = wide(undoneBy({ a: AGENT, b: 'Agent-7' }));
      goneOn(desk);
      expect(desk.rows('autonomy')).toHaveLength(36);
      for (const kind of KINDS) expect(standingOf(desk, kind)).toMatchObject({ undone: { length: 2 } });
    });

    it('count nowhere where a person says that their trigger was wrong, however far they have counted', () => {
      const { desk } = wide();
      // The word is told in parts as well.
      for (const { key } of desk.when(judged('a', false), 2_000).rows('undone_leg'))
        desk.when(desk.timer('undone_leg', key), 2_000);
      for (const kind of KINDS)
        expect(standingOf(desk, kind)).toMatchObject({ undone: [{ id: mutationOf('b') }], corrections: { length: 1 } });
    });

    it('count no further where the policies of those that remained are retired', () => {
      const { desk, entries } = wide();
      for (const kind of KINDS) retire(entries, kind);
      expect(told(goneOn(desk))).toMatchObject([{ cause: 'elapsed', remaining: [] }]);
      expect(desk.rows('undone_leg')).toEqual([]);
    });
  });
});
