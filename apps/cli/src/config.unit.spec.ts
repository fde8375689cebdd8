import { describe, expect, it } from '@jest/globals';
import { resolveSettings } from './config.js';

const told = (environment: NodeJS.ProcessEnv) => resolveSettings({}, environment, '/');

describe('the settings of a command', () => {
  it('take the token of somebody in many groups, which is longer than any other text', () => {
    expect(told({ RECOURSE_TOKEN: `ey${'J'.repeat(9_000)}` }).token).toHaveLength(9_002);
  });

  it.each(['RECOURSE_DATABASE_URL', 'RECOURSE_KEY_STORE_URL'])(
    'take in %s none of what the program says of its own connections',
    (name) => {
      expect(() => told({ [name]: 'postgres://db.test/x?statement_timeout=0' })).toThrow(
        expect.objectContaining({
          code: 'ENVIRONMENT_INVALID',
          problems: [{ code: 'INVALID', message: expect.stringContaining('sets statement_timeout itself') }],
        }),
      );
    },
  );

  it('show no token that they cannot take', () => {
    const problems = [{ code: 'INVALID', message: expect.stringContaining('RECOURSE_TOKEN is not shown') }];
    expect(() => told({ RECOURSE_TOKEN: 'e'.repeat(20_000) })).toThrow(
      expect.objectContaining({ code: 'ENVIRONMENT_INVALID', problems }),
    );
  });
});
