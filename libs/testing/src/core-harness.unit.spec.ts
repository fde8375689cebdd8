import { describe, expect, it } from '@jest/globals';
import { append, NOTHING } from '@recourse/event-log';
import type { ServiceCore } from '@recourse/event-log';
import { harness, record, WAYS, wire } from './index.js';
import { deepFreeze, mismatch, plainProblem } from './plain-data.js';

/** Counts what it is told, per name; a timer a second later resets the count. */
function counter(changes: Partial<ServiceCore> = {}): ServiceCore {
  return {
    log: 'recourse.counts',
    inputs: [],
    views: [],
    kinds: [{ kind: 'count', table: 'count', columns: [] }],
    keyOf: (record) => String(record.body.name),
    decide: ({ state }, input) => {
      if (input.source === 'timer') return append(record('Reset', { name: input.address.key }));
      const name = String(input.body.name);
      return state.get('count', name, name)?.total === 2 ? NOTHING : append(record('Counted', { name }));
    },
    evolve: (state, { type, body, decidedAt }) => {
      const name = String(body.name);
      const total = type === 'Reset' ? 0 : Number(state.get('count', name, name)?.total ?? 0) + 1;
      return [
        {
          op: 'put',
          row: {
            kind: 'count',
            group: name,
            key: name,
            dueAt: type === 'Reset' ? null : decidedAt + 1_000,
            doc: { total },
          },
        },
      ];
    },
    react: () => [],
    owed: () => false,
    ...changes,
  };
}

const count = wire('recourse.names', 'Count', { name: 'a' });

describe.each(WAYS)('the harness, $way', ({ isRebuilt }) => {
  it('decides, accepts and keeps rows, loading cold groups as they are asked for', () => {
    const run = harness(counter(), { isRebuilt })
      .given(record('Counted', { name: 'a' }))
      .when(count, 10)
      .then(record('Counted', { name: 'a' }))
      .when(count, 20)
      .thenNothing();
    expect(run.rows('count').map((row) => row.doc)).toEqual([{ total: 2 }]);
    expect(run.records().map(({ seq, decidedAt }) => [seq, decidedAt])).toEqual([
      [1, 0],
      [2, 10],
    ]);
  });

  it('feeds the timers that are due', () => {
    const run = harness(counter(), { isRebuilt }).when(count, 10);
    run
      .whenDue(1_009)
      .thenNothing()
      .whenDue(1_010)
      .then(record('Reset', { name: 'a' }));
    expect(run.rows().every((row) => row.dueAt === null)).toBe(true);
  });

  it('reads the views to their end when a decision asks for that, and says so', () => {
    const careful = counter({
      decide: ({ views }) => {
        views.readToEnd();
        return append(record('Counted', { name: 'a' }));
      },
    });
    const run = harness(careful, { isRebuilt }).when(count, 10).thenReadViews();
    run.then(record('Counted', { name: 'a' }));
    expect(run.records()).toHaveLength(1);
    expect(() => harness(counter(), { isRebuilt }).when(count, 10).thenReadViews()).toThrow('views');
  });

  it('says what came instead', () => {
    const run = harness(counter(), { isRebuilt }).when(count, 10);
    expect(() => run.then(record('Counted', { name: 'b' }))).toThrow('records[0].body.name');
    expect(() => run.thenNothing()).toThrow('1 items instead of 0');
    expect(() => run.thenParked('ANY')).toThrow('park');
  });

  it('refuses a core that changes what it is given', () => {
    const core = counter({
      decide: (_context, input) => {
        Object.assign(input, { offset: 9 });
        return NOTHING;
      },
    });
    expect(() => harness(core, { isRebuilt }).when(wire('t', 'Count', { name: 'a' }), 1)).toThrow(TypeError);
  });

  it('refuses rows that could not be stored, and time that goes backwards', () => {
    const odd = counter({
      evolve: () => [
        { op: 'put', row: { kind: 'count', group: 'a', key: 'a', dueAt: null, doc: { at: new Date(0) } } },
      ],
    });
    expect(() => harness(odd, { isRebuilt }).when(count, 1)).toThrow('instance of a class');
    expect(() => harness(counter(), { isRebuilt }).when(count, 5).when(count, 4)).toThrow('behind');
  });
});

describe('a rebuild', () => {
  it('finds a core whose rows follow from more than its records', () => {
    let outside = 0;
    const core = counter({
      evolve: () => [
        { op: 'put', row: { kind: 'count', group: 'a', key: 'a', dueAt: null, doc: { outside: (outside += 1) } } },
      ],
      decide: () => append(record('Counted', { name: 'a' })),
    });
    expect(() => harness(core, { isRebuilt: true }).when(count, 1).when(count, 2)).toThrow('rebuilt rows differ');
  });
});

describe('plain data', () => {
  it('is frozen to its depth, bytes apart', () => {
    const value = deepFreeze({ list: [{ deep: 1 }], bytes: Buffer.from('a') });
    expect(Object.isFrozen(value.list[0])).toBe(true);
    expect(Object.isFrozen(value.bytes)).toBe(false);
  });

  it('is compared on the members that are named', () => {
    expect(mismatch({ a: 1, b: 2 }, { a: 1 }, 'it')).toBeNull();
    expect(mismatch({ bytes: Buffer.from('a') }, { bytes: Buffer.from('b') }, 'it')).toBe('it.bytes: other bytes');
  });

  it('holds nothing that could not be stored', () => {
    expect(plainProblem({ text: 'a', n: 1, list: [null, true, Buffer.alloc(1)] }, 'row')).toBeNull();
    for (const value of ['a\0b', 0.5, undefined, Number.MAX_SAFE_INTEGER + 1, new Map()])
      expect(plainProblem({ value }, 'row')).toContain('row.value');
  });
});
