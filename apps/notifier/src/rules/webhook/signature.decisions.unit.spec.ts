import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { keyOfSecret, signedHeaders } from './signature.decisions.js';

/** The example of the Standard Webhooks specification's own libraries. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const VECTOR = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  at: 1_614_265_330_000,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const key = (secret: string): Buffer => keyOfSecret(secret) ?? Buffer.alloc(0);

describe('a signature', () => {
  it("is that of the specification's libraries", () => {
    expect(signedHeaders(VECTOR.id, VECTOR.body, [key(SECRET)], VECTOR.at)).toEqual({
      'webhook-id': VECTOR.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': VECTOR.signature,
    });
  });

  it('covers id, time and body', () => {
    const signature = (id: string, body: string, at: number): string =>
      signedHeaders(id, body, [key(SECRET)], at)['webhook-signature'];
    expect(
      new Set([
        signature('a', 'b', 1_000),
        signature('c', 'b', 1_000),
        signature('a', 'd', 1_000),
        signature('a', 'b', 2_000),
      ]).size,
    ).toBe(4);
  });

  it('is given under both keys while they are exchanged', () => {
    const [newer, older] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const expected = [newer, older]
      .map((secret) => `v1,${createHmac('sha256', secret).update('m.5.{}').digest('base64')}`)
      .join(' ');
    expect(signedHeaders('m', '{}', [newer, older], 5_999)['webhook-signature']).toBe(expected);
  });
});

describe('a secret', () => {
  it('is whsec_ and the base64 of 24 to 64 bytes', () => {
    expect(keyOfSecret(SECRET)).toHaveLength(24);
    const of = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
    expect(
      [
        of(24),
        of(64),
        of(23),
        of(65),
        'whsec_',
        SECRET.slice(6),
        `${SECRET}!`,
        'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS',
      ].map((secret) => keyOfSecret(secret) !== null),
    ).toEqual([true, true, false, false, false, false, false, false]);
  });
});
