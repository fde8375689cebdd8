import { describe, expect, it } from '@jest/globals';
import { failuresIn, titlesIn } from '../../../scripts/lib/failures.mjs';

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

describe('the short list of what failed', () => {
  it('has each failed spec on a line, once, and nothing of its story', () => {
    const failure = '  ● a ledger › keeps what it was told\n\n    expect(received).toBe(expected)\n';
    expect(titlesIn(`${failure}  ● Console\n${quiet}\nSummary\n${failure}0 passed, 1 failed\n`)).toEqual([
      '● a ledger › keeps what it was told',
    ]);
  });

  it('has what a program told last, without what its processes said', () => {
    const said = 'Data and logs are kept in /data.\nWhat the processes said:\nledger: 1 x slow';
    expect(
      titlesIn(`  BROKEN  early\nWhat did not hold:\n  - run 7 does not end\n${said}\n36 passed, 1 failed`),
    ).toEqual(['- run 7 does not end']);
  });

  it('is cut where it is long', () => {
    const many = Array.from({ length: 20 }, (_, at) => `FAILED seed ${String(at)}${'x'.repeat(500)}`).join('\n');
    const titles = titlesIn(many);
    expect(titles).toHaveLength(13);
    expect(titles.at(-1)).toBe('and 8 more');
    expect(Math.max(...titles.map(({ length }) => length))).toBeLessThan(241);
  });
});
