// What a rule is: one code, the requirements behind it, and a pure function that finds where a contract breaks it.
import type { ContractProblemCode } from '../problems.js';
import type { ContractDraft } from '../shape.js';

/** Capabilities that have a standing contract. */
export interface KnownCapabilities {
  readonly has: (name: string) => boolean;
  /** The contract itself, where it can be looked up; rules that read it are silent without. */
  readonly contractOf?: (name: string) => ContractDraft | undefined;
}

/** Where a rule is broken, and what is wrong there, without a full stop. */
export interface Finding {
  /** JSON pointer into the contract. */
  readonly path: string;
  readonly what: string;
}

export interface Rule {
  readonly code: ContractProblemCode;
  /** Requirements and promises it holds. */
  readonly ids: readonly string[];
  readonly find: (contract: ContractDraft, known: KnownCapabilities) => readonly (Finding | null)[];
}

/** A finding where something is broken, nothing where it is well. */
export function when(isBroken: boolean, path: string, what: string): Finding | null {
  return isBroken ? { path, what } : null;
}
