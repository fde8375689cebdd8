// What is recorded of an expression that was not judged holds nothing of its facts.
import { expect, it } from '@jest/globals';
import { evaluateExpression } from './condition.js';
import { NOT_JUDGED } from './condition-words.js';

const CANARY = 'asha.k@example.org IBAN DE89';
const KIND = 'a value is not of the kind that it is read as';
const ABSENT = 'it reads what is not there';

it.each([
  ['int(args.account) < 5', KIND],
  ["timestamp(args.account) > timestamp('2020-01-01T00:00:00Z')", KIND],
  ["duration(args.account) > duration('1s')", KIND],
  ['bool(args.account)', KIND],
  ['args.list.all(x, x)', KIND],
  ['args.account < 5', KIND],
  ["{'a': 1}[args.account] == 1", ABSENT],
  ['args.nothing == 1', ABSENT],
  ['nothing.account == 1', ABSENT],
  ['args.list[7] == 1', ABSENT],
  ['unknown(args.account)', 'it calls a function that there is none of'],
  ['1 / args.zero == 1', 'a number is out of range'],
  ['args.account.matches(args.pattern)', NOT_JUDGED],
  ['args.account', 'the condition says neither true nor false'],
])('says nothing of the facts where it is not judged: %s', (expression, word) => {
  const args = { account: CANARY, list: [CANARY], zero: 0, pattern: `(${CANARY}` };
  expect(evaluateExpression(expression, { args })).toMatchObject({ ok: false, detail: word });
});

it('what is wrong with an expression itself is told as it is, and so is what whoever gave the facts is shown', () => {
  expect(evaluateExpression('1 +', {})).toMatchObject({ detail: expect.stringContaining('expecting end of input') });
  expect(evaluateExpression('int(args) < 5', { args: CANARY })).toMatchObject({
    said: expect.stringContaining(CANARY),
  });
});
