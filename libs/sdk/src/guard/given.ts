// What a guard is made of, before it guards anything: callers without types pass anything, and what it does not know must not be
// taken for leave to act.
import { Failure } from '@recourse/kernel';
import type { GuardMode } from './guard.messages.js';

/** How much a guard may do, by name. */
const MODES: Readonly<Record<GuardMode, true>> = { off: true, observe: true, enforce: true };

/** What is wrong with a mode; null where it is one. */
export function modeProblem(mode: unknown): string | null {
  return typeof mode === 'string' && Object.hasOwn(MODES, mode)
    ? null
    : `mode has to be one of ${Object.keys(MODES).join(', ')}, and is ${typeof mode === 'string' ? `'${mode}'` : typeof mode}`;
}

/** Errors: Failure(GUARD_INVALID) for a tool that cannot be called, or a mode that is none. */
export function refuseUnusable(tool: unknown, { mode }: { readonly mode: unknown }): void {
  // Any object may be read by name.
  const execute = typeof tool === 'object' && tool !== null ? (tool as { readonly execute?: unknown }).execute : tool;
  const problem =
    typeof execute === 'function'
      ? modeProblem(mode)
      : 'the tool has to be a function, or an object with a function `execute`';
  if (problem !== null) throw new Failure('GUARD_INVALID', problem);
}
