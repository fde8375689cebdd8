// Who was first to take an attempt: who is not looks first where the tool takes a key, and calls nothing where it takes none.

/** One call of one step. */
export interface Claim {
  readonly stepId: string;
  /** From 1. */
  readonly attempt: number;
  readonly workerId: string;
}

/**
 * Grants each (step, attempt) once, for ever.
 *
 * Implementations MUST make a grant durable before answering it, and MUST answer `taken` to every later claim of the
 * same (step, attempt), also by the same worker and after a crash.
 * Implementations MUST NOT grant when they cannot tell: they throw, and the step is not executed.
 * Source: L11.
 */
export interface ClaimStore {
  claim(claim: Claim): Promise<'granted' | 'taken'>;
}
