// Patterns of strangers, judged in time linear in the text by RE2: a pattern such as `(a+)+$` would hold up JavaScript's own engine
// for ever. What RE2 does not know (looking ahead or behind, references back) makes a schema unusable.
import { RE2JS } from 're2js';

/** A pattern of a schema. Errors: TypeError for one that RE2 does not know. */
export function linear(pattern: string): { readonly test: (text: string) => boolean } {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`pattern ${pattern}: ${why}; a pattern may not look ahead or behind, nor refer back`);
  }
}
