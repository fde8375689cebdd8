import { describe, expect, it } from '@jest/globals';
import { settingsFileOf } from './system-processes.js';

describe('the settings of a development stack', () => {
  it('are those by which its services decide and that are not the defaults, one a line', () => {
    expect(settingsFileOf({}).split('\n')).toEqual([
      'RECOURSE_LEASE_MS=5000',
      'RECOURSE_SOURCE_TRUST=off',
      'RECOURSE_STORM_LIMIT=0',
      'RECOURSE_CLOSURE_MAX=0',
      '',
    ]);
  });

  it('are with what a stack is given of its own', () => {
    const given = {
      serviceEnv: { RECOURSE_LEASE_MS: '1000' },
      envOf: { 'budget-accountant': { RECOURSE_SETTLE_WITHIN_MS: '2000' } },
    };
    expect(settingsFileOf(given)).toMatch(/^RECOURSE_LEASE_MS=1000\n[^]*^RECOURSE_SETTLE_WITHIN_MS=2000\n$/mu);
  });
});
