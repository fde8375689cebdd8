// Agreements in memory. For specs and first steps.
import { consentKey } from './consents.port.js';
import type { Consent, Consents } from './consents.port.js';

/** Agreements in memory: gone with the process. */
export class MemoryConsents implements Consents {
  private readonly agreed = new Set<string>();

  has(consent: Consent): Promise<boolean> {
    return Promise.resolve(this.agreed.has(consentKey(consent)));
  }

  grant(consent: Consent): Promise<void> {
    this.agreed.add(consentKey(consent));
    return Promise.resolve();
  }

  withdraw(consent: Consent): Promise<void> {
    this.agreed.delete(consentKey(consent));
    return Promise.resolve();
  }
}
