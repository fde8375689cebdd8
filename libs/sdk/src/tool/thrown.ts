// What a tool threw, read without trust: JavaScript throws anything, and reading it may throw again.
//
// Boundary: pure. Whoever reads it has a call to tell of, which may have had an effect: nothing here throws.
import { ToolRejected } from './tool.js';

/** A member of what was thrown, by name; undefined where there is none, or none that can be read. */
export function memberOf(thrown: unknown, name: PropertyKey): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  try {
    return Reflect.get(thrown, name);
  } catch {
    return undefined;
  }
}

/** What was thrown, in words. */
export function wordsOf(thrown: unknown): string {
  try {
    const message = thrown instanceof Error ? memberOf(thrown, 'message') : undefined;
    return typeof message === 'string' ? message : String(thrown);
  } catch {
    return 'it threw what has no words';
  }
}

/** Does the tool say itself that nothing happened? */
export function isRejected(thrown: unknown): thrown is ToolRejected {
  try {
    return thrown instanceof ToolRejected;
  } catch {
    return false;
  }
}
