import { describe, expect, it } from '@jest/globals';
import { failuresIn } from '../../../scripts/lib/failures.mjs';

const quiet = Array.from({ length: 300 }, (_, at) => `line ${String(at)}`).join('\n');

describe('what is repeated at the end of a run that failed', () => {
  it('is the story of every failed spec, once, however far from the end', () => {
    const failure = '  ● a ledger › keeps what it was told\n\n    expect(received).toBe(expected)\n';
    const excerpt = failuresIn(
      `PASS a\n${failure}${quiet}\nSummary of all failing tests\n${failure}\n0 passed, 1 failed\n`,
    );
    expect(excerpt.split('● a ledger')).toHaveLength(2);
    expect(excerpt).toContain('expect(received).toBe(expected)');
  });

  it('is what a program itself told last', () => {
    const excerpt = failuresIn(
      `  BROKEN  early\n${quiet}\nWhat did not hold:\n  - run 7 does not come to rest\n36 passed, 1 failed`,
    );
    expect(excerpt).toBe('What did not hold:\n  - run 7 does not come to rest\n36 passed, 1 failed');
  });

  it('names the seed of a simulation that failed, and the patch that stayed green', () => {
    expect(failuresIn(`FAILED seed 91 at commit abc\n  P9 position: too early\n${quiet}`)).toMatch(
      /^FAILED seed 91 at commit abc\n {2}P9 position/,
    );
    expect(failuresIn(`3 of 4  a.patch  STAYED GREEN  2 s\n${quiet}`)).toMatch(/^3 of 4 {2}a\.patch/);
  });

  it('is the end of the output when no failure is recognised', () => {
    expect(failuresIn(quiet).split('\n').at(-1)).toBe('line 299');
  });

  it('stays short', () => {
    expect(failuresIn(`What did not hold:\n${'x'.repeat(9_000)}`, 100).length).toBeLessThan(150);
  });
});
