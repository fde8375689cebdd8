// A lineage as it is drawn.
import { describe, expect, it } from '@jest/globals';
import { drawn } from './lineage.rules.js';
import type { LineageBox } from './lineage.query.js';

const box = (changes: Partial<LineageBox>): LineageBox => ({
  id: 'run:one',
  run_id: 'one',
  is_open: false,
  kind: 'run',
  commits: 1,
  label: null,
  subject_ref: null,
  agents: ['agent'],
  told: [],
  silent: [],
  states: [{ state: 'stands', commits: 1 }],
  found: 0,
  ...changes,
});

describe('a box of a lineage', () => {
  it('of many commits says how many are how, under the gravest of their states', () => {
    const states = [
      { state: 'stands', commits: 1_200 },
      { state: 'rolled_back', commits: 3 },
    ];
    const { boxes } = drawn({ boxes: [box({ commits: 1_203, states, silent: ['mailer'] })], arrows: [] });
    expect(boxes).toEqual([
      {
        id: 'run:one',
        run: 'one',
        title: '1,203 commits',
        lines: ['agent', '1,200 stands', '3 rolled back', 'silent: mailer'],
        state: 'rolled_back',
        isFound: false,
      },
    ]);
  });

  it('of one commit is named by what it does, and by what it is where nobody said', () => {
    const { boxes } = drawn({
      boxes: [box({ label: 'payments.pay', found: 1 }), box({ kind: 'unknown', agents: [] })],
      arrows: [],
    });
    expect(boxes.map(({ title, lines, isFound }) => [title, lines, isFound])).toEqual([
      ['payments.pay', ['agent'], true],
      ['unknown', [], false],
    ]);
  });
});
