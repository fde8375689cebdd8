import { describe, expect, it } from '@jest/globals';
import { readPayload } from '@recourse/contract';
import { executedBody } from '../producer/producer.js';
import { actionOf } from '../guard/action.js';
import { refund, refundCall } from '../guard/guard.testing.js';
import { classify, markedPayload, sensitivityOf } from './classification.decisions.js';

describe('data in a payload', () => {
  it.each([
    [{ to: 'Asha <asha@example.org>' }, 'personal', '/to', 'email'],
    [{ note: 'call +49 30 1234 5678' }, 'personal', '/note', 'phone'],
    [{ customer: { first_name: 'Asha' } }, 'personal', '/customer/first_name', 'personal_field'],
    [{ memo: 'card 4111 1111 1111 1111' }, 'payment', '/memo', 'card_number'],
    [{ 'to/account': ['DE89 3704 0044 0532 0130 00'] }, 'payment', '/to~1account/0', 'iban'],
    [{ cvv: 123 }, 'payment', '/cvv', 'payment_field'],
    [{ text: 'SSN 078-05-1120' }, 'regulatory', '/text', 'social_security_number'],
    [{ diagnosis: 'E11.9', email: 'a@b.org' }, 'regulatory', '/diagnosis', 'regulatory_field'],
  ])('%o is %s', (json, sensitivity, path, detector) => {
    const found = classify(json);
    expect(found.sensitivity).toBe(sensitivity);
    expect(found.findings).toContainEqual({ path, detector, sensitivity });
  });

  it.each([
    [{ order: '4711', amount_minor: 500_000, currency: 'INR' }],
    [{ at: 1_767_225_600_000, id: '4111111111111112', hash: 'a'.repeat(64) }],
    [null],
    [['order/4711#not_shipped']],
  ])("%o is nobody's", (json) => {
    expect(classify(json)).toEqual({ sensitivity: 'internal', findings: [] });
  });

  it.each([
    'card:4111111111111111',
    '"4111111111111111"',
    'card-4111-1111-1111-1111, thanks',
    '(4111 1111 1111 1111)',
    '4111 1111 1111 1111 2nd floor',
    'カード番号4111111111111111です',
  ])('has a card number in %s', (text) => {
    expect(classify({ text }).findings).toEqual([{ path: '/text', detector: 'card_number', sensitivity: 'payment' }]);
  });

  it.each([
    'bk-fwd_d4111111111111111b8a36116632178572',
    'fwd_4111111111111111',
    'd4111111111111111',
    '4111111111111111f',
    '4111111111111111_2',
    '94111111111111111',
  ])('has no card number in %s: digits of an id', (text) => {
    expect(classify({ text }).findings).toEqual([]);
  });

  it.each([
    'DE89370400440532013000',
    'de89 3704 0044 0532 0130 00',
    'IBAN: GB29 NWBK 6016 1331 9268 19.',
    'pay to DE89 3704 0044 0532 0130 00 by Friday',
    'NO9386011117947 or BE68539007547034',
    'LC55HEMM000100010012001200023015',
  ])('has an account number in %s', (text) => {
    expect(classify({ text }).findings).toEqual([{ path: '/text', detector: 'iban', sensitivity: 'payment' }]);
  });

  it.each([
    'DE89370400440532013001',
    'DE8937040044053201300',
    // Their check digits are right.
    'ad87000000000000000000000000000a',
    'XX89370400440532013000',
    'DE89370400440532013000x',
  ])('has no account number in %s', (text) => {
    expect(classify({ text }).findings).toEqual([]);
  });

  it('has no account number in any id of 32 hexadecimal digits, whatever its check digits are', () => {
    const digits = Array.from({ length: 100 }, (_, check) => String(check).padStart(2, '0'));
    for (const country of ['ad', 'ae', 'ba', 'be', 'de', 'ee'])
      for (const check of digits)
        expect(classify({ id: `${country}${check}0123456789abcdef0123456789ab` }).findings).toEqual([]);
  });

  it('is never repeated in what is found', () => {
    expect(JSON.stringify(classify({ to: 'asha@example.org' }))).not.toContain('asha@');
  });

  it('that nests too deep to be read counts as the worst', () => {
    const deep = Array.from({ length: 100 }).reduce<{ readonly [key: string]: unknown }>((inner) => ({ inner }), {
      leaf: 'x',
    });
    // Built from objects and a text.
    expect(classify(deep as Parameters<typeof classify>[0]).sensitivity).toBe('regulatory');
  });
});

describe('a marked payload', () => {
  it('says how sensitive it is and reads as before', () => {
    const payload = markedPayload({ to: 'asha@example.org' });
    expect(payload.content_type).toBe('application/json; sensitivity=personal');
    expect([sensitivityOf(payload), readPayload(payload)]).toEqual(['personal', { to: 'asha@example.org' }]);
    expect(sensitivityOf({ ...payload, content_type: 'application/json; sensitivity=cosmic' })).toBe('regulatory');
  });

  it('is what executions carry', () => {
    const action = actionOf({ ...refundCall, args: { order: 'asha@example.org' } }, refund().options);
    const body = executedBody('agent', action, {
      outcome: 'succeeded',
      result: { iban: 'x' },
      priorValue: { a: 1 },
      externalTransactionRef: null,
      errorKind: null,
      committedAt: 1,
    });
    expect(
      [body.args, body.result, body.prior_value].map((payload) => (payload === null ? null : sensitivityOf(payload))),
    ).toEqual(['personal', 'payment', 'internal']);
  });
});
