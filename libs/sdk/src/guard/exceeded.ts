// Bounds that a call would exceed, as whoever made it reads them. Pure.
import type { Excess } from '@recourse/messages';

/** Measures that are counted; of the others there is nothing to count. */
const COUNTED: readonly string[] = ['debt', 'value', 'calls', 'subjects'];
/** How far a call reaches, by its number. */
const REACHES = ['single_subject', 'tenant', 'cross_tenant'] as const;

/** What is bounded, how much of it is used and asked for, and the bound; null where none is told. Amounts are in minor units. */
export function exceededText(exceeded: readonly Excess[] | undefined): string | null {
  return exceeded === undefined || exceeded.length === 0 ? null : exceeded.map(boundText).join('; ');
}

function boundText({ scope, scope_id, measure, window, currency, ...counts }: Excess): string {
  const { used_minor: used, asked_minor: asked, ceiling_minor: ceiling } = counts;
  const bound = `${measure} of ${scope} ${scope_id}${window === 'life' ? '' : ` per ${window}`}`;
  if (measure === 'scope') return `${bound}: it reaches ${reachOf(asked)}, at most ${reachOf(ceiling)}`;
  if (!COUNTED.includes(measure)) return bound;
  const unit = currency === '' ? '' : `, in minor units of ${currency}`;
  return `${bound}: ${String(used)} used, ${String(asked)} asked, at most ${String(ceiling)}${unit}`;
}

const reachOf = (reach: number): string => REACHES[reach] ?? String(reach);
