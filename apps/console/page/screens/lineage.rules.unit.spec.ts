// A lineage as it is drawn.
import { describe, expect, it } from '@jest/globals';
import { BOXES_MAX, grouped } from './lineage.rules.js';
import type { Lineage, LineageNode } from './lineage.rules.js';

const node = (id: string, run_id: string, state = 'standing'): LineageNode => ({
  id,
  run_id,
  kind: 'commit',
  agent: 'agent',
  label: id,
  subject_ref: null,
  state,
  told: [],
  silent: [],
});
const LINEAGE: Lineage = {
  nodes: [node('a', 'one', 'rolled_back'), node('b', 'one'), node('c', 'two')],
  edges: [
    { from: 'a', to: 'b', kind: 'derived' },
    { from: 'b', to: 'c', kind: 'derived' },
    { from: 'a', to: 'c', kind: 'derived' },
  ],
};
const none: ReadonlySet<string> = new Set();

describe('a lineage', () => {
  it('is drawn by run: one box each, with the gravest state in it, and one arrow between two', () => {
    const { boxes, arrows } = grouped(LINEAGE, none, '');
    expect(boxes.map(({ title, state }) => [title, state])).toEqual([
      ['2 commits', 'rolled_back'],
      ['c', 'standing'],
    ]);
    expect(arrows.map(({ from, to }) => [from, to])).toEqual([['run:one', 'run:two']]);
  });

  it('shows the commits of a run that is opened', () => {
    const { boxes, arrows } = grouped(LINEAGE, new Set(['one']), '');
    expect(boxes.map(({ id }) => id)).toEqual(['a', 'b', 'run:two']);
    expect(arrows.map(({ id }) => id)).toEqual(['a b', 'b run:two', 'a run:two']);
  });

  it('of more runs than anybody reads brings forward what is looked for, and says how many are left', () => {
    const nodes = Array.from({ length: BOXES_MAX + 50 }, (_, at) => node(`n${String(at)}`, `run-${String(at)}`));
    const { boxes, left } = grouped({ nodes, edges: [] }, none, `run-${String(BOXES_MAX + 7)}`);
    expect([boxes.length, left, boxes[0]?.run, boxes[0]?.isFound]).toEqual([
      BOXES_MAX,
      50,
      `run-${String(BOXES_MAX + 7)}`,
      true,
    ]);
  });
});
