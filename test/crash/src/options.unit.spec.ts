import { describe, expect, it } from '@jest/globals';
import { WHOLE_MATRIX } from './matrix/matrix.cases.js';
import { pairwise } from './matrix/pairwise.decisions.js';
import { readOptions } from './options.js';

describe('the options of the crash runs', () => {
  it('ask for runs unless they name the matrix', () => {
    expect(readOptions([])?.matrix).toBeNull();
    expect(readOptions(['--matrix'])?.matrix).toEqual(pairwise(WHOLE_MATRIX));
    expect(readOptions(['--matrix', 'whole'])?.matrix).toEqual(WHOLE_MATRIX);
  });

  it('choose single cases of the matrix, also those that no pair needs', () => {
    expect(readOptions(['--matrix', '--at', 'verify seen', '--by', 'stop,pause', '--only', 'worker'])?.matrix).toEqual([
      { point: 'verify seen', action: 'stop', target: 'worker' },
      { point: 'verify seen', action: 'pause', target: 'worker' },
    ]);
  });

  it('ask for consumers by name, small unless told', () => {
    expect(readOptions([])?.consumers).toBeNull();
    expect(readOptions(['--consumers', '--seed', '7'])?.consumers).toEqual({
      commits: 2_000,
      rollbacks: 100,
      seconds: 30,
      seed: 7,
    });
    expect(
      readOptions(['--consumers', '--commits', '100000', '--rollbacks', '5000', '--seconds', '300', '--seed', '7'])
        ?.consumers,
    ).toEqual({ commits: 100_000, rollbacks: 5_000, seconds: 300, seed: 7 });
  });

  it('kill workers in a few legs after the runs, and in as many as told instead of them', () => {
    expect(readOptions(['--quick'])?.legs).toEqual({ kills: 12, isAlone: false });
    expect(readOptions(['--legs', '200'])?.legs).toEqual({ kills: 200, isAlone: true });
    expect([['--matrix'], ['--consumers'], ['--only', 'kafka']].map((args) => readOptions(args)?.legs)).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('name what an upgrade begins with: a commit, or a folder', () => {
    expect(readOptions([])?.upgrade).toBeNull();
    expect(readOptions(['--upgrade', 'v0.1.0'])?.upgrade).toBe('v0.1.0');
  });

  it.each([
    [['--upgrade']],
    [['--legs', '0']],
    [['--legs', '5', '--matrix']],
    [['--commits', '5']],
    [['--consumers', '--seconds', '0']],
    [['whole']],
    [['--matrix', 'half']],
    [['--matrix', '--at', 'nowhere']],
    [['--only', 'nobody']],
    [['--runs', '0']],
  ])('refuse %j', (args) => {
    expect(() => readOptions(args)).toThrow();
  });
});
