import { expect, it } from '@jest/globals';
import { desk } from './desk.testing.js';
import { EXIT_CODES } from './problem.js';

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
