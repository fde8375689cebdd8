// Who was first to take an attempt: who is not looks first where the tool takes a key, and calls nothing where it takes none.

/** One attempt at something that only one may be the first to do. */
export interface Claim {
  /** What is taken: a leg, a step whose tool takes no key, or the call of a guard. */
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
  readonly workerId: string;
}

/**
 * Grants each (id, attempt) once, for ever.
 *
 * Implementations MUST make a grant durable before answering it, and MUST answer `taken` to every later claim of the
 * same (id, attempt), also by the same worker and after a crash.
 * Implementations MUST NOT grant when they cannot tell: they throw, and nothing is executed that may not be repeated.
 * Source: L11.
 */
export interface ClaimStore {
  claim(claim: Claim): Promise<'granted' | 'taken'>;
}
