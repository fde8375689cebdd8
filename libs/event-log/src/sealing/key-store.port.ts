// Where the keys of sealed payloads live: apart from logs and projections, durable before anything sealed under them is appended.
//
// Boundary: a store knows scopes and secrets, not what is sealed. Destroying a secret erases what was sealed under it and
// leaves every hash intact; the scope then gets a new key when more is to be sealed.

/** Whose data, and the retention window it falls into. */
export interface KeyScope {
  readonly tenant: string;
  readonly subject: string;
  /** Begin of the window, epoch milliseconds. */
  readonly windowStart: number;
  /** End of the window, epoch milliseconds. */
  readonly windowEnd: number;
  /** What of the subject has a key of its own, to be destroyed by itself; none for the rest. */
  readonly unit?: string;
}

/** Something that has keys of its own, of one subject or of whichever. */
export interface Unit {
  readonly tenant: string;
  readonly subject?: string;
  readonly unit: string;
}

/** A key of a scope; `secret` is null once it was destroyed. `tenant`: whose it is, as `storableName` has it. */
export interface StoredKey {
  readonly keyId: string;
  readonly tenant: string;
  readonly secret: Buffer | null;
}

/** A key that new data is sealed under. */
export interface StandingKey extends StoredKey {
  readonly secret: Buffer;
}

/** Which keys are destroyed, and on whose word: those of a tenant, narrowed by what is given. */
export interface Erasure {
  /** Kept with each destroyed key, with the time. */
  readonly by: string;
  readonly reason: string;
  readonly tenant: string;
  readonly subject?: string;
  /** Windows that ended at or before this, epoch milliseconds. */
  readonly endedBy?: number;
}

export interface KeyStore {
  /**
   * The key each scope seals under: the one that stands, else the candidate.
   *
   * Shape:  answers in the order asked; durable when it answers, whoever asks at the same time.
   * Units:  a candidate has SECRET_BYTES bytes.
   * Errors: Failure(KEY_STORE_UNAVAILABLE).
   */
  ensure(wanted: readonly { readonly scope: KeyScope; readonly candidate: Buffer }[]): Promise<readonly StandingKey[]>;
  /** Keys by id; ids nobody made are left out. Errors: Failure(KEY_STORE_UNAVAILABLE). */
  find(keyIds: readonly string[]): Promise<readonly StoredKey[]>;
  /** Destroys secrets for good and says how many; those of units go with their subject. Errors: Failure(KEY_STORE_UNAVAILABLE). */
  destroy(erasure: Erasure): Promise<number>;
  /**
   * Destroys the keys of units for good, in all their windows, and says how many; no key beside theirs.
   *
   * Errors: Failure(KEY_STORE_UNAVAILABLE).
   */
  destroyUnits(units: readonly Unit[], by: string, reason: string): Promise<number>;
  close(): Promise<void>;
}
