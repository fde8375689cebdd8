import { describe, expect, it } from '@jest/globals';
import { describeConfig, readConfig } from '@recourse/config';
import { CONFIG, CONFIG_RULES, limitsOf } from './config.js';

/** What a variable is when nobody sets it, by the page that documents it. */
function fallbackOf(name: string): string | undefined {
  return new RegExp(`\\| \`${name}\` \\|.*\\| \`([^\`]*)\` \\|`).exec(describeConfig(CONFIG))?.[1];
}

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

describe('limits that nobody sets', () => {
  it('are careful: sources are weighed, bursts and closures are held', () => {
    expect(
      [
        'RECOURSE_SOURCE_TRUST',
        'RECOURSE_SOURCE_TRUST_THRESHOLD_PERMILLE',
        'RECOURSE_STORM_LIMIT',
        'RECOURSE_STORM_WINDOW_MS',
        'RECOURSE_CLOSURE_MAX',
      ].map(fallbackOf),
    ).toEqual(['weighed', '600', '600', '60000', '10000']);
  });

  it('cannot be set so that a stranger is trusted while sources are weighed (E41)', () => {
    const { schema } = CONFIG.sourceTrustThreshold;
    expect(['500', '501', '1000', '1001'].map((value) => schema.safeParse(value).success)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('limits as they are set', () => {
  const SET = {
    sourceTrust: 'weighed',
    sourceTrustThreshold: 700,
    stormLimit: 5,
    stormWindowMs: 1_000,
    closureMax: 9,
    trendMin: 30,
    trendFactor: 3,
    trendWindowMs: 60_000,
  } as const;
  it('are told to the core, and zero is none', () => {
    expect(limitsOf(SET)).toEqual({
      trustThresholdPermille: 700,
      storm: { limit: 5, windowMs: 1_000 },
      closureMax: 9,
      trend: { windowMs: 60_000, min: 30, factor: 3 },
    });
    expect(limitsOf({ ...SET, sourceTrust: 'off', stormLimit: 0, closureMax: 0, trendMin: 0 })).toEqual({
      trustThresholdPermille: null,
      storm: null,
      closureMax: null,
      trend: null,
    });
  });
});
