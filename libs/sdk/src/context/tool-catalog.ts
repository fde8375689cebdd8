// Tool catalogue: what an agent should know of a tool before it uses it, beside the schema of its arguments (A102).
import { answerFor, availableFor, hasSideEffects } from '@recourse/contract';
import type { Contract, Undoability } from '@recourse/contract';

/** One tool, as an agent's context shows it. */
export interface CatalogTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly args_schema: Contract['args_schema'];
  /** Null for a tool that only reads. */
  readonly reversal_class: 'reversible' | 'compensable' | 'irreversible' | null;
  readonly undoability: Undoability;
  /** Who has to agree before an effect is undone. */
  readonly recovery_approval_mode: 'auto' | 'human' | 'dual_control';
  /** Milliseconds from the commit in which it can be undone; null when nothing undoes it or nothing bounds it. */
  readonly expires_after_ms: number | null;
  /** Events that end the window earlier. */
  readonly window_closed_by: readonly string[];
  /** Milliseconds an effect is held, in which it can still be cancelled; 0 when it goes at once. */
  readonly hold_ms: number;
  /** Who has to agree before it happens. */
  readonly forward_approval: 'policy' | 'human' | 'dual_control';
  readonly residue: string | null;
}

/** The catalogue of these contracts, by name. Shape: plain data, fit for a prompt; an absent class counts as irreversible. */
export function toolCatalog(contracts: readonly Contract[]): readonly CatalogTool[] {
  return contracts.map(catalogTool).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function catalogTool(contract: Contract): CatalogTool {
  const { undoability } = answerFor(contract);
  const isBack = undoability === 'restored' || undoability === 'compensated' || undoability === 'by_hand';
  return {
    name: contract.name,
    description: contract.effect,
    args_schema: contract.args_schema,
    reversal_class: hasSideEffects(contract) ? (contract.reversal_class ?? 'irreversible') : null,
    undoability,
    recovery_approval_mode: contract.recovery_approval_mode ?? 'human',
    expires_after_ms: isBack ? availableFor(contract) : null,
    window_closed_by: contract.window_closed_by ?? [],
    hold_ms: contract.commit_hold_ms ?? 0,
    forward_approval: contract.forward_approval ?? 'policy',
    residue: contract.residue ?? null,
  };
}

/** One line for a tool's description: class, recovery mode and expiry, for those who read nothing else. */
export function recoverabilityNote({
  reversal_class: reversal,
  recovery_approval_mode: mode,
  expires_after_ms: expiry,
  hold_ms: hold,
  undoability,
}: CatalogTool): string {
  if (undoability === 'nothing_to_undo') return 'Reads only.';
  const held = hold > 0 ? ` Held for ${String(hold)} ms before it happens.` : '';
  if (undoability === 'not_undone') return `Cannot be undone.${held}`;
  const until = expiry === null ? '' : ` within ${String(expiry)} ms`;
  return `${reversal ?? 'irreversible'}: ${undoability.replaceAll('_', ' ')}${until}, recovery approval ${mode}.${held}`;
}
