import { expect, it } from '@jest/globals';
import { desk } from './desk.testing.js';
import { CliProblem, EXIT_CODES } from './problem.js';

it.each([
  ['ROLE_OF_ONE_TENANT', 'Add --tenant <tenant>, '],
  ['ROLE_OF_ALL_TENANTS', "Add --tenant '*', "],
  ['SOMETHING_ELSE', 'Use a token with the role; '],
])('a role that is missing is remedied by what the refusal lists: %s', async (code, remedy) => {
  const detail = 'the token carries viewer, where that gives nothing';
  const body = { code: 'ROLE_REQUIRED', detail, problems: [{ code, message: 'It counts elsewhere.' }] };
  const { call, note } = desk(() => Response.json(body, { status: 403 }));
  expect(await call('mutations', 'list')).toBe(EXIT_CODES.refused.code);
  expect(note().split('\n')).toEqual([
    `ROLE_REQUIRED: ${detail}`,
    `  ${code}: It counts elsewhere.`,
    expect.stringContaining(`What to do: ${remedy}`),
  ]);
});

it('what a log lost is not remedied by a command for wires', () => {
  const remedyOf = (code: string): string => new CliProblem(code, '', 'unavailable').remedy ?? '';
  expect(remedyOf('LOG_FRONT_CUT')).toContain('Restore in docs/guides/deploy.md');
  expect(remedyOf('LOG_FRONT_CUT')).not.toContain('accept-loss');
  expect(remedyOf('CURSOR_OUT_OF_RANGE')).toMatch(/^Of a wire, .*accept-loss.* a log is restored/u);
});

it('what a refusal lists is said once, with its code and place', async () => {
  const problems = [
    { code: 'INVALID_VALUE', path: '/state', message: 'is "x", and may be open or held' },
    { code: 'TOO_SMALL', path: '/run_id', message: 'must not be empty' },
    { code: 'UNKNOWN_KEY', path: '', message: 'must have no member colour' },
  ];
  const detail = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const { call, note } = desk(() => Response.json({ code: 'INPUT_INVALID', detail, problems }, { status: 400 }));
  expect(await call('recoveries', 'list')).toBe(EXIT_CODES.refused.code);
  expect(note().split('\n').slice(0, 4)).toEqual([
    'INPUT_INVALID: 3 things are wrong',
    '  INVALID_VALUE at /state: is "x", and may be open or held',
    '  TOO_SMALL at /run_id: must not be empty',
    '  UNKNOWN_KEY at the whole: must have no member colour',
  ]);
});

it('an exit code says one thing: input that is wrong is neither a finding nor an outcome that nobody knows', () => {
  const codes = Object.values(EXIT_CODES).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
});
