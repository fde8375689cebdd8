import { describe, expect, it } from '@jest/globals';
import { verifyWebhook } from './verify-webhook.js';

/** The example of the Standard Webhooks specification's own libraries. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"test": 2432232314}';
const AT = 1_614_265_330_000;
const HEADERS = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const OTHER = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

describe('a receiver', () => {
  it('takes what was signed, also beside another signature or under the older secret', () => {
    expect(verifyWebhook([SECRET], HEADERS, BODY, AT)).toBe(true);
    expect(
      verifyWebhook(
        [OTHER, SECRET],
        { ...HEADERS, 'webhook-signature': `v1,AAAA ${HEADERS['webhook-signature']}` },
        BODY,
        AT,
      ),
    ).toBe(true);
  });

  it.each([
    ['another body', HEADERS, `${BODY} `, AT],
    ['another id', { ...HEADERS, 'webhook-id': 'msg_other' }, BODY, AT],
    ['another time', { ...HEADERS, 'webhook-timestamp': '1614265331' }, BODY, AT],
    ['a forged signature', { ...HEADERS, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }, BODY, AT],
    ['no signature', { ...HEADERS, 'webhook-signature': undefined }, BODY, AT],
    [
      'a signature of another scheme',
      { ...HEADERS, 'webhook-signature': HEADERS['webhook-signature'].replace('v1', 'v2') },
      BODY,
      AT,
    ],
    ['one that is kept too long', HEADERS, BODY, AT + 301_000],
    ['one from the future', HEADERS, BODY, AT - 301_000],
  ] as const)('refuses %s', (_, headers, body, now) => {
    expect(verifyWebhook([SECRET], headers, body, now)).toBe(false);
  });

  it('refuses what another secret signed', () => {
    expect(verifyWebhook([OTHER], HEADERS, BODY, AT)).toBe(false);
  });
});
