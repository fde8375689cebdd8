// What every key store promises; run once per adapter.
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { KeyScope, KeyStore } from './key-store.port.js';
import { SECRET_BYTES } from './sealed-bytes.js';

export interface KeyStoreUnderTest {
  readonly name: string;
  /** Two processes' views of one empty store. */
  fresh(): Promise<readonly [KeyStore, KeyStore]>;
}

const DAY_MS = 86_400_000;
const scope = (subject: string, window = 0, tenant = 'acme'): KeyScope => ({
  tenant,
  subject,
  windowStart: window * DAY_MS,
  windowEnd: (window + 1) * DAY_MS,
});
const WHO = { by: 'root', reason: 'asked to be forgotten' };
const secret = (fill: number): Buffer => Buffer.alloc(SECRET_BYTES, fill);

export function keyStoreContract({ name, fresh }: KeyStoreUnderTest): void {
  describe(`the key store of ${name}`, () => {
    let one: KeyStore;
    let other: KeyStore;
    beforeEach(async () => {
      [one, other] = await fresh();
    });

    it('takes the first candidate of a scope and gives it to all who ask after', async () => {
      const [first] = await one.ensure([{ scope: scope('order/1'), candidate: secret(1) }]);
      const [second] = await other.ensure([{ scope: scope('order/1'), candidate: secret(2) }]);
      expect(first?.secret).toEqual(secret(1));
      expect(second).toEqual(first);
    });

    it('answers in the order asked, each scope its own key, also when one is asked twice', async () => {
      const wanted = [
        scope('order/2'),
        scope('order/1'),
        scope('order/1', 1),
        scope('order/1', 0, 'globex'),
        scope('order/2'),
      ].map((one_, index) => ({ scope: one_, candidate: secret(index) }));
      const keys = await one.ensure(wanted);
      expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(4);
      expect(keys[4]).toEqual(keys[0]);
      expect(await other.ensure(wanted)).toEqual(keys);
    });

    it('gives one key to two that ask at once', async () => {
      const ask = (store: KeyStore, fill: number) =>
        store.ensure(
          Array.from({ length: 50 }, (_, n) => ({ scope: scope(`order/${String(n)}`), candidate: secret(fill) })),
        );
      const [left, right] = await Promise.all([ask(one, 1), ask(other, 2)]);
      expect(left).toEqual(right);
    });

    it.each([
      ['with NUL', 'a\u0000b'],
      ['of 10 KB', 'x'.repeat(10_240)],
      ['that is not well-formed', 'a\ud800b'],
      ['without a letter', ''],
    ])('takes a subject %s like every other', async (_what, subject) => {
      const [key] = await one.ensure([{ scope: scope(subject), candidate: secret(1) }]);
      expect(await other.ensure([{ scope: scope(subject), candidate: secret(2) }])).toEqual([key]);
      expect(await one.destroy({ ...WHO, tenant: 'acme', subject })).toBe(1);
    });

    it('finds keys by id and says nothing of ids nobody made', async () => {
      const [key] = await one.ensure([{ scope: scope('order/1'), candidate: secret(1) }]);
      expect(await other.find([key?.keyId ?? '', 'key_nobody.1'])).toEqual([{ keyId: key?.keyId, secret: secret(1) }]);
      expect(await one.find([])).toEqual([]);
    });

    it('destroys the keys of one subject in all its windows, and no other', async () => {
      const wanted = [scope('order/1'), scope('order/1', 1), scope('order/2'), scope('order/1', 0, 'globex')].map(
        (one_) => ({ scope: one_, candidate: secret(1) }),
      );
      const keys = await one.ensure(wanted);
      expect(await one.destroy({ ...WHO, tenant: 'acme', subject: 'order/1' })).toBe(2);
      const found = new Map((await other.find(keys.map(({ keyId }) => keyId))).map((key) => [key.keyId, key.secret]));
      expect(keys.map(({ keyId }) => found.get(keyId))).toEqual([null, null, secret(1), secret(1)]);
      expect(await one.destroy({ ...WHO, tenant: 'acme', subject: 'order/1' })).toBe(0);
    });

    it('destroys the keys of windows that have ended', async () => {
      await one.ensure([
        { scope: scope('order/1'), candidate: secret(1) },
        { scope: scope('order/1', 1), candidate: secret(2) },
        { scope: scope('order/2', 0), candidate: secret(3) },
      ]);
      expect(await one.destroy({ ...WHO, tenant: 'acme', endedBy: DAY_MS })).toBe(2);
    });

    it('gives a unit of a subject a key of its own, and destroys it in all its windows without another', async () => {
      const own = (unit: string, window = 0, tenant = 'acme'): KeyScope => ({
        ...scope('run/1', window, tenant),
        unit,
      });
      const wanted = [own('cp_1'), own('cp_1', 1), own('cp_2'), scope('run/1'), own('cp_1', 0, 'globex')].map(
        (one_, index) => ({ scope: one_, candidate: secret(index) }),
      );
      const keys = await one.ensure(wanted);
      expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(5);
      expect(
        await one.destroyUnits(
          [
            { tenant: 'acme', unit: 'cp_1' },
            { tenant: 'acme', subject: 'run/2', unit: 'cp_2' },
          ],
          WHO.by,
          WHO.reason,
        ),
      ).toBe(2);
      const found = new Map((await other.find(keys.map(({ keyId }) => keyId))).map((key) => [key.keyId, key.secret]));
      expect(keys.map(({ keyId }) => found.get(keyId))).toEqual([null, null, secret(2), secret(3), secret(4)]);
      expect(await one.destroyUnits([{ tenant: 'acme', subject: 'run/1', unit: 'cp_1' }], WHO.by, WHO.reason)).toBe(0);
      expect(await one.destroyUnits([], WHO.by, WHO.reason)).toBe(0);
    });

    it.each([
      ['with NUL', 'a\u0000b'],
      ['of 10 KB', 'x'.repeat(10_240)],
    ])('takes a unit %s like every other', async (_what, unit) => {
      const [key] = await one.ensure([{ scope: { ...scope('run/1'), unit }, candidate: secret(1) }]);
      expect(await other.ensure([{ scope: { ...scope('run/1'), unit }, candidate: secret(2) }])).toEqual([key]);
      expect(await one.destroyUnits([{ tenant: 'acme', subject: 'run/1', unit }], WHO.by, WHO.reason)).toBe(1);
    });

    it('destroys the keys of units with those of their subject, and with those of their window', async () => {
      const units = [scope('run/1'), scope('run/2')].map((one_, index) => ({
        scope: { ...one_, unit: 'cp_1' },
        candidate: secret(index),
      }));
      await one.ensure(units);
      expect(await one.destroy({ ...WHO, tenant: 'acme', subject: 'run/1' })).toBe(1);
      expect(await one.destroy({ ...WHO, tenant: 'acme', endedBy: DAY_MS })).toBe(1);
    });

    it('follows a destroyed key with another', async () => {
      const [destroyed] = await one.ensure([{ scope: scope('order/1'), candidate: secret(1) }]);
      await one.destroy({ ...WHO, tenant: 'acme', subject: 'order/1' });
      const [next] = await other.ensure([{ scope: scope('order/1'), candidate: secret(2) }]);
      expect(next?.keyId).not.toBe(destroyed?.keyId);
      expect(next?.secret).toEqual(secret(2));
      expect(await one.ensure([{ scope: scope('order/1'), candidate: secret(3) }])).toEqual([next]);
    });
  });
}
