import { describe, expect, it } from '@jest/globals';
import { describeConfig, readConfig } from '@recourse/config';
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

describe('the address of traces', () => {
  const { traceUrl } = CONFIG;
  const told = (address: string) => readConfig({ traceUrl }, { RECOURSE_TRACE_URL: address });

  it('is one of HTTP, with the place of the trace in it', () => {
    const address = 'https://traces.test/trace/{trace_id}?from=now#{trace_id}';
    expect(told(address)).toMatchObject({ config: { traceUrl: address } });
  });

  it.each(['https://dana:secret@traces.test/{trace_id}', 'javascript:alert(1)', 'traces.test/{trace_id}'])(
    'is refused as %j: whoever reads a review item is told it',
    (address) => {
      expect(told(address)).toMatchObject({ ok: false, problems: [{ variable: 'RECOURSE_TRACE_URL' }] });
    },
  );
});
