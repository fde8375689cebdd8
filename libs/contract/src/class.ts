// What a contract's class means: side effects, the capability that undoes, the weight of its debt.
import type { Contract, ContractDraft, ReversalArg } from './shape.js';

/** True unless the capability only reads. */
export function hasSideEffects(contract: ContractDraft): boolean {
  return contract.impact !== 'read' || contract.approval_mode !== 'read_only';
}

/** Impacts that are harmless enough for the mode of a contract to decide. */
const ORDINARY_IMPACTS: readonly string[] = ['read', 'write', 'customer_visible'];

/** Does its undoing always take a person? A word that this version does not know is a grave one (P14). */
export function isGrave(impact: string): boolean {
  return !ORDINARY_IMPACTS.includes(impact);
}

/**
 * Does an undo that calls it take a person, whatever it undoes?
 *
 * Shape:  one person before a call (forward_approval human) says nothing of undoing: most compensations ask one, so that no agent makes
 *         them by itself. Two people do.
 */
export function takesPeople({ impact, forward_approval, consequence }: ContractDraft): boolean {
  return (
    (impact !== undefined && isGrave(impact)) ||
    forward_approval === 'dual_control' ||
    consequence?.regulatory !== undefined
  );
}

/** True when a person works from a runbook, or nothing undoes it: nothing is bound for automation. */
export function isManual(contract: ContractDraft): boolean {
  const mode = contract.compensation_mode?.mode;
  return mode === 'manual_runbook' || mode === 'not_supported';
}

/** True when the class says that the effect can be undone. */
export function isUndoable(contract: ContractDraft): boolean {
  return contract.reversal_class === 'reversible' || contract.reversal_class === 'compensable';
}

/** True when workers undo the effect, unattended or after an approval. A read of any class has nothing to undo. */
export function isAutomated(contract: ContractDraft): boolean {
  return isUndoable(contract) && hasSideEffects(contract) && !isManual(contract);
}

/** Capability that undoes or compensates; null when there is none or a person does it by hand. */
export function reversalCapabilityOf(contract: ContractDraft): string | null {
  if (isManual(contract)) return null;
  if (contract.reversal_class === 'reversible') return contract.inverse_capability ?? null;
  return contract.reversal_class === 'compensable' ? (contract.compensation_capability ?? null) : null;
}

/** A call of a reversal as its contract declares it, and where. */
export interface DeclaredCall {
  readonly capability: string | null;
  readonly args: Readonly<Record<string, ReversalArg>>;
  readonly verification: ContractDraft['verification'];
  /** JSON pointers. */
  readonly at: { readonly capability: string; readonly args: string; readonly verification: string };
}

/** The calls that undo an effect, in their order; the first is that of the class, of which some may lack. */
export function reversalCallsOf(contract: ContractDraft): readonly [DeclaredCall, ...DeclaredCall[]] {
  const { reversal_class: declared, reversal_args: args = {}, reversal_then: then = [], verification } = contract;
  const capability = declared === 'compensable' ? '/compensation_capability' : '/inverse_capability';
  return [
    {
      capability: reversalCapabilityOf(contract),
      args,
      verification,
      at: { capability, args: '/reversal_args', verification: '/verification' },
    },
    ...then.map((call, index) => {
      const at = `/reversal_then/${String(index)}`;
      return {
        ...call,
        at: { capability: `${at}/capability`, args: `${at}/args`, verification: `${at}/verification` },
      };
    }),
  ];
}

/** Prefix of a capability: the adapter that performs it. */
export function adapterOf(capability: string): string {
  return capability.slice(0, capability.indexOf('.'));
}

/** Window of the reversal in milliseconds: the shorter bound binds (A25); null when there is none. */
export function windowOf(contract: ContractDraft): number | null {
  const bounds = [contract.reversal_window_ms, contract.expires_after_commit_ms].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? null : Math.min(...bounds);
}

/** Time in which a reversal can be had, milliseconds: what lies behind a tombstone can be restored only as long as the tombstone is kept (A54). */
export function availableFor(contract: ContractDraft): number | null {
  const bounds = [windowOf(contract), contract.techniques?.tombstone_ttl_ms ?? null].filter((bound) => bound !== null);
  return bounds.length === 0 ? null : Math.min(...bounds);
}

/** Debt weights by class (A74). */
export const CLASS_WEIGHTS = { reversible: 0, compensable: 0.1, irreversible: 1 } as const;

/** Weight of the capability's value in the irreversibility debt; not declared counts as irreversible. */
export function weightOf(contract: Contract): number {
  if (!hasSideEffects(contract)) return 0;
  const { reversal_class: declared, debt_weight: raised } = contract;
  if (declared === undefined) return CLASS_WEIGHTS.irreversible;
  return declared === 'compensable' ? Math.max(CLASS_WEIGHTS.compensable, raised ?? 0) : CLASS_WEIGHTS[declared];
}
