import { describe, expect, it } from '@jest/globals';
import { describeConfig } from '@recourse/config';
import { CONFIG, ratesOf } from './config.js';

/** What a variable is when nobody sets it, by the page that documents it. */
function fallbackOf(name: string): string | undefined {
  return new RegExp(`\\| \`${name}\` \\|.*\\| \`([^\`]*)\` \\|`).exec(describeConfig(CONFIG))?.[1];
}

describe('rates', () => {
  it('are none unless somebody sets them', () => {
    expect(['RECOURSE_RATE_PER_TENANT', 'RECOURSE_RATE_PER_CAPABILITY'].map(fallbackOf)).toEqual(['0', '0']);
  });

  it('are told to the core, and zero is none', () => {
    expect(ratesOf({ ratePerTenant: 60, ratePerCapability: 0 })).toEqual({
      tenantPerMinute: 60,
      capabilityPerMinute: null,
    });
  });
});
