// What people agreed that their data may be used for.

/** One agreement: whose data, and for what. */
export interface Consent {
  readonly tenant: string;
  /** Whose data it is, as the memory names them. */
  readonly subject: string;
  readonly purpose: string;
}

/**
 * Keeps agreements.
 *
 * Implementations MUST have an agreement or a withdrawal on disk before they resolve, and MUST answer by the last of them, whichever
 * process told it. What nobody agreed to is not agreed. Implementations MUST throw where they cannot tell.
 */
export interface Consents {
  has(consent: Consent): Promise<boolean>;
  /** `by`: who recorded it. */
  grant(consent: Consent, by: string): Promise<void>;
  withdraw(consent: Consent, by: string): Promise<void>;
}

/** Name of an agreement. */
export function consentKey({ tenant, subject, purpose }: Consent): string {
  return JSON.stringify([tenant, subject, purpose]);
}
