import { describe, expect, it } from '@jest/globals';
import { readConfig } from '@recourse/config';
import { CONFIG, CONFIG_RULES } from './config.js';

/** Problems with an environment, as far as they are about what is given here. */
function problems(given: Readonly<Record<string, string>>): readonly string[] {
  const read = readConfig(CONFIG, given, CONFIG_RULES);
  return read.ok
    ? []
    : read.problems
        .filter(({ variable, code }) => code === 'CONFLICT' || variable in given)
        .map(({ code, variable, value }) => `${code} ${variable} ${String(value)}`);
}

describe('the bound of rollbacks', () => {
  it('may not exceed the time states are kept: refused at start, with all else that is wrong', () => {
    expect(
      problems({
        RECOURSE_ROLLBACK_BOUND_MS: '600001',
        RECOURSE_FULL_FIDELITY_MS: '600000',
        RECOURSE_WARN_LEAD_MS: 'soon',
      }),
    ).toEqual(['INVALID RECOURSE_WARN_LEAD_MS soon', 'CONFLICT RECOURSE_ROLLBACK_BOUND_MS 600001']);
  });

  it('is measured against the default too', () => {
    expect(problems({ RECOURSE_ROLLBACK_BOUND_MS: String(7 * 86_400_000 + 1) })).toEqual([
      `CONFLICT RECOURSE_ROLLBACK_BOUND_MS ${String(7 * 86_400_000 + 1)}`,
    ]);
  });

  it('may be as long as states are kept, or not be set', () => {
    expect(problems({ RECOURSE_ROLLBACK_BOUND_MS: '600000', RECOURSE_FULL_FIDELITY_MS: '600000' })).toEqual([]);
    expect(problems({ RECOURSE_FULL_FIDELITY_MS: '600000' })).toEqual([]);
  });
});
