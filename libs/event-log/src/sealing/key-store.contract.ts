// What every key store promises; run once per adapter.
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import type { KeyScope, KeyStore } from './key-store.port.js';
import { SECRET_BYTES } from './keys.js';

export interface KeyStoreUnderTest {
  readonly name: string;
  /** Two processes' views of one empty store. */
  fresh(): Promise<Views>;
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

type Views = readonly [KeyStore, KeyStore];

export function keyStoreContract({ name, fresh }: KeyStoreUnderTest): void {
  describe(`the key store of ${name}`, () => runCases(CASES, fresh));
}

const CASES: Cases<Views> = {
  'takes the first candidate of a scope and gives it to all who ask after': async ([one, other]) => {
    const [first] = await one.ensure([{ scope: scope('order/1'), candidate: secret(1) }]);
    const [second] = await other.ensure([{ scope: scope('order/1'), candidate: secret(2) }]);
    expect(first?.secret).toEqual(secret(1));
    expect(second).toEqual(first);
  },

  'answers in the order asked, each scope its own key, also when one is asked twice': async ([one, other]) => {
    const wanted = [
      scope('order/2'),
      scope('order/1'),
      scope('order/1', 1),
      scope('order/1', 0, 'globex'),
      scope('order/2'),
    ].map((each, index) => ({ scope: each, candidate: secret(index) }));
    const keys = await one.ensure(wanted);
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(4);
    expect(keys[4]).toEqual(keys[0]);
    expect(await other.ensure(wanted)).toEqual(keys);
  },

  'gives one key to two that ask at once': async ([one, other]) => {
    const ask = (store: KeyStore, fill: number) =>
      store.ensure(
        Array.from({ length: 50 }, (_, n) => ({ scope: scope(`order/${String(n)}`), candidate: secret(fill) })),
      );
    const [left, right] = await Promise.all([ask(one, 1), ask(other, 2)]);
    expect(left).toEqual(right);
  },

  'takes a subject with NUL like every other': (views) => subjectTaken(views, 'a\u0000b'),

  'takes a subject of 10 KB like every other': (views) => subjectTaken(views, 'x'.repeat(10_240)),

  'takes a subject that is not well-formed like every other': (views) => subjectTaken(views, 'a\ud800b'),

  'takes a subject without a letter like every other': (views) => subjectTaken(views, ''),

  'finds keys by id and says nothing of ids nobody made': async ([one, other]) => {
    const [key] = await one.ensure([{ scope: scope('order/1'), candidate: secret(1) }]);
    expect(key?.tenant).toBe('acme');
    expect(await other.find([key?.keyId ?? '', 'key_nobody.1'])).toEqual([key]);
    expect(await one.find([])).toEqual([]);
  },

  'destroys the keys of one subject in all its windows, and no other': async ([one, other]) => {
    const wanted = [scope('order/1'), scope('order/1', 1), scope('order/2'), scope('order/1', 0, 'globex')].map(
      (each) => ({ scope: each, candidate: secret(1) }),
    );
    const keys = await one.ensure(wanted);
    expect(await one.destroy({ ...WHO, tenant: 'acme', subject: 'order/1' })).toBe(2);
    const found = new Map((await other.find(keys.map(({ keyId }) => keyId))).map((key) => [key.keyId, key.secret]));
    expect(keys.map(({ keyId }) => found.get(keyId))).toEqual([null, null, secret(1), secret(1)]);
    expect(await one.destroy({ ...WHO, tenant: 'acme', subject: 'order/1' })).toBe(0);
  },

  'destroys the keys of windows that have ended': async ([one]) => {
    await one.ensure([
      { scope: scope('order/1'), candidate: secret(1) },
      { scope: scope('order/1', 1), candidate: secret(2) },
      { scope: scope('order/2', 0), candidate: secret(3) },
    ]);
    expect(await one.destroy({ ...WHO, tenant: 'acme', endedBy: DAY_MS })).toBe(2);
  },

  'gives a unit of a subject a key of its own, and destroys it in all its windows without another': async ([
    one,
    other,
  ]) => {
    const own = (unit: string, window = 0, tenant = 'acme'): KeyScope => ({
      ...scope('run/1', window, tenant),
      unit,
    });
    const wanted = [own('cp_1'), own('cp_1', 1), own('cp_2'), scope('run/1'), own('cp_1', 0, 'globex')].map(
      (each, index) => ({ scope: each, candidate: secret(index) }),
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
  },

  'takes a unit with NUL like every other': (views) => unitTaken(views, 'a\u0000b'),

  'takes a unit of 10 KB like every other': (views) => unitTaken(views, 'x'.repeat(10_240)),

  'destroys the keys of units with those of their subject, and with those of their window': async ([one]) => {
    const units = [scope('run/1'), scope('run/2')].map((each, index) => ({
      scope: { ...each, unit: 'cp_1' },
      candidate: secret(index),
    }));
    await one.ensure(units);
    expect(await one.destroy({ ...WHO, tenant: 'acme', subject: 'run/1' })).toBe(1);
    expect(await one.destroy({ ...WHO, tenant: 'acme', endedBy: DAY_MS })).toBe(1);
  },

  'follows a destroyed key with another': async ([one, other]) => {
    const [destroyed] = await one.ensure([{ scope: scope('order/1'), candidate: secret(1) }]);
    await one.destroy({ ...WHO, tenant: 'acme', subject: 'order/1' });
    const [next] = await other.ensure([{ scope: scope('order/1'), candidate: secret(2) }]);
    expect(next?.keyId).not.toBe(destroyed?.keyId);
    expect(next?.secret).toEqual(secret(2));
    expect(await one.ensure([{ scope: scope('order/1'), candidate: secret(3) }])).toEqual([next]);
  },
};

async function subjectTaken([one, other]: Views, subject: string): Promise<void> {
  const [key] = await one.ensure([{ scope: scope(subject), candidate: secret(1) }]);
  expect(await other.ensure([{ scope: scope(subject), candidate: secret(2) }])).toEqual([key]);
  expect(await one.destroy({ ...WHO, tenant: 'acme', subject })).toBe(1);
}

async function unitTaken([one, other]: Views, unit: string): Promise<void> {
  const [key] = await one.ensure([{ scope: { ...scope('run/1'), unit }, candidate: secret(1) }]);
  expect(await other.ensure([{ scope: { ...scope('run/1'), unit }, candidate: secret(2) }])).toEqual([key]);
  expect(await one.destroyUnits([{ tenant: 'acme', subject: 'run/1', unit }], WHO.by, WHO.reason)).toBe(1);
}
