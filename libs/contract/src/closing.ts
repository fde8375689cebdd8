// Events that end reversibility before its time (B5), as refs: who sees one states it like any other assumption.

const PREFIX = 'event/';

/** Ref of an event of a subject: `event/order/4711#provider settlement`. Stated as holding, the event has happened. */
export function closingRef(subjectRef: string, event: string): string {
  return `${PREFIX}${subjectRef}#${event}`;
}

/** Does a ref name an event, and not something a commit relies on? */
export function isClosingRef(ref: string): boolean {
  return ref.startsWith(PREFIX);
}
