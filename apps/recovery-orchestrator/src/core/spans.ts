// Names of the spans of a recovery's trace: who tells one and whoever works below it go by them.
export const SPAN_NAMES = ['trigger', 'decision', 'approval', 'leg', 'verification', 'handover'] as const;
export type SpanName = (typeof SPAN_NAMES)[number];

/** A span within its trace. */
export interface SpanPlace {
  readonly name: SpanName;
  readonly which: string;
}

export const TRIGGER = { name: 'trigger', which: '' } as const;
export const DECISION = { name: 'decision', which: '' } as const;

/** The span of an attempt; what its worker did hangs below the answered one. */
export function legSpan(attempt: number, end: 'answered' | 'unanswered'): SpanPlace & { readonly name: 'leg' } {
  return { name: 'leg', which: `${String(attempt)} ${end}` };
}
