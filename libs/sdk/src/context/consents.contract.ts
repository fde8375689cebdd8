// What every keeper of agreements does.
import { describe, expect, it } from '@jest/globals';
import type { Consent, Consents } from './consents.port.js';

export interface ConsentsUnderTest {
  readonly consents: Consents;
  /** The same agreements in another process, also after this one died. */
  readonly reopen: () => Consents;
}

export function consentsContract(name: string, make: () => Promise<ConsentsUnderTest>): void {
  const support: Consent = { tenant: 'acme', subject: 'customer/7', purpose: 'support' };

  describe(`the agreements "${name}"`, () => {
    it('have nothing that nobody agreed to, and keep tenants, subjects and purposes apart', async () => {
      const { consents } = await make();
      expect(await consents.has(support)).toBe(false);
      await consents.grant(support, 'asha');
      expect(await consents.has(support)).toBe(true);
      for (const other of [{ tenant: 'globex' }, { subject: 'customer/8' }, { purpose: 'billing' }])
        expect(await consents.has({ ...support, ...other })).toBe(false);
    });

    it('go by the last word, whichever process told it', async () => {
      const { consents, reopen } = await make();
      const other = reopen();
      await consents.grant(support, 'asha');
      expect(await other.has(support)).toBe(true);
      await other.withdraw(support, 'olga');
      expect(await consents.has(support)).toBe(false);
      await consents.grant(support, 'asha');
      expect(await other.has(support)).toBe(true);
    });

    it('lose nothing of many that are told at once, nor in a crash', async () => {
      const { consents, reopen } = await make();
      const other = reopen();
      const purposes = Array.from({ length: 20 }, (_, at) => `purpose ${String(at)}`);
      await Promise.all(
        purposes.map((purpose, at) => (at % 2 === 0 ? consents : other).grant({ ...support, purpose }, 'asha')),
      );
      const after = reopen();
      expect(await Promise.all(purposes.map((purpose) => after.has({ ...support, purpose })))).toEqual(
        purposes.map(() => true),
      );
    });
  });
}
