import { describe, expect, it } from '@jest/globals';
import { describeConfig, readConfig } from '@recourse/config';
import { CONFIG, CONFIG_RULES, limitsOf, ratesOf } from './config.js';

/** What a variable is when nobody sets it, by the page that documents it. */
function fallbackOf(name: string): string | undefined {
  return new RegExp(`\\| \`${name}\` \\|.*\\| \`([^\`]*)\` \\|`).exec(describeConfig(CONFIG))?.[1];
}

describe('limits that nobody sets', () => {
  it('are careful: sources are weighed, bursts and closures are held; calls keep no rate', () => {
    expect(
      [
        'RECOURSE_SOURCE_TRUST',
        'RECOURSE_SOURCE_TRUST_THRESHOLD_PERMILLE',
        'RECOURSE_STORM_LIMIT',
        'RECOURSE_STORM_WINDOW_MS',
        'RECOURSE_CLOSURE_MAX',
        'RECOURSE_RATE_PER_TENANT',
        'RECOURSE_RATE_PER_CAPABILITY',
      ].map(fallbackOf),
    ).toEqual(['weighed', '600', '600', '60000', '10000', '0', '0']);
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
    ratePerTenant: 60,
    ratePerCapability: 0,
    rollbackBoundMs: 3_600_000,
  } as const;
  it('are told to the core, and zero is none', () => {
    expect([limitsOf(SET), ratesOf(SET)]).toEqual([
      { trustThresholdPermille: 700, storm: { limit: 5, windowMs: 1_000 }, closureMax: 9, boundMs: 3_600_000 },
      { tenantPerMinute: 60, capabilityPerMinute: null },
    ]);
    expect(limitsOf({ ...SET, sourceTrust: 'off', stormLimit: 0, closureMax: 0, rollbackBoundMs: undefined })).toEqual({
      trustThresholdPermille: null,
      storm: null,
      closureMax: null,
      boundMs: null,
    });
  });
});

describe('a bound beyond the time states are kept', () => {
  const conflicts = (given: Readonly<Record<string, string>>): readonly string[] => {
    const read = readConfig(CONFIG, given, CONFIG_RULES);
    return read.ok ? [] : read.problems.filter(({ code }) => code === 'CONFLICT').map(({ variable }) => variable);
  };

  it('is refused at start, with all else that is wrong (E38)', () => {
    expect(conflicts({ RECOURSE_ROLLBACK_BOUND_MS: '600001', RECOURSE_FULL_FIDELITY_MS: '600000' })).toEqual([
      'RECOURSE_ROLLBACK_BOUND_MS',
    ]);
    expect(conflicts({ RECOURSE_ROLLBACK_BOUND_MS: '600000', RECOURSE_FULL_FIDELITY_MS: '600000' })).toEqual([]);
  });
});
