// The provider's handle of an effect, as a tool reads it off its own answer.
//
// Invariants
//   H1. Nothing that a tool says of its handle undoes that it has acted: what is no text is no handle, and the outcome is told all the same.
import { bindReversal } from '@recourse/contract';
import type { BindingFacts, Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { unfitFor } from '../producer/fitting.js';
import { wordsOf } from '../tool/thrown.js';
import { written } from '../written.js';
import type { ForwardTool } from './guard.messages.js';

/** A handle, or why there is none where the tool gave something. */
export interface Handle {
  readonly handle: string | null;
  /** For whoever wrote the tool; null where nothing is wrong. */
  readonly problem: string | null;
}

const NONE: Handle = { handle: null, problem: null };

/**
 * Reads the handle off an answer; a number is its text, as in most APIs an id is. Errors: none.
 *
 * Shape:  off the very answer of the tool, which may be more than JSON keeps of it; where that gives none, off what JSON says of it.
 */
export function handleIn(tool: Pick<ForwardTool, 'externalTransactionRef'>, result: unknown): Handle {
  if (tool.externalTransactionRef === undefined) return NONE;
  const own = readOff(tool, result);
  if (own.handle !== null) return own;
  const said = readOff(tool, written(result).json);
  return said.handle === null ? own : said;
}

function readOff(tool: Pick<ForwardTool, 'externalTransactionRef'>, result: unknown): Handle {
  let given: unknown;
  try {
    given = tool.externalTransactionRef?.(result as Json); // whatever its type says of it: it is the tool's own answer
  } catch (cause) {
    return {
      handle: null,
      problem: `externalTransactionRef threw: ${wordsOf(cause)}`,
    };
  }
  // An id of a class of its own says in JSON what it is.
  const said = typeof given === 'object' && given !== null ? written(given).json : given;
  if (said === null || said === undefined) return NONE;
  if (typeof said === 'string' || typeof said === 'bigint') return recordable(String(said));
  if (typeof said === 'number' && Number.isSafeInteger(said)) return recordable(String(said));
  return { handle: null, problem: `externalTransactionRef gave ${kindOf(said)}; return the handle as a text` };
}

/** A handle that no record holds is as good as none, and its outcome is told all the same (L7). */
function recordable(handle: string): Handle {
  const found = handle === '' ? null : unfitFor('handle', { external_transaction_ref: handle });
  return found === null ? { handle, problem: null } : { handle: null, problem: found.detail };
}

/**
 * What the ledger will miss when it binds the reversal, by name; empty where it can bind it. Errors: none.
 *
 * Shape:  what other compensations of a recovery give is not missing yet.
 */
export function missingFor(contract: Contract, facts: BindingFacts): readonly string[] {
  const binding = bindReversal(contract, facts);
  return binding.kind === 'incomplete' ? binding.missing.filter((place) => !place.startsWith('steps.')) : [];
}

function kindOf(given: unknown): string {
  if (Array.isArray(given)) return 'a list';
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`;
}
