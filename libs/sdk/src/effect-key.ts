// The logical identity of an effect within a run.
//
// Grammar:
//   effect-key = "eff_" hex( SHA-256( canonical-json( [step, capability, target, args-hash] ) ) )
//   args-hash  = hex( SHA-256( canonical-json( args ) ) )
//   target     = string / null
import { canonicalJson, deriveId, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';

/** What makes two calls the same effect. */
export interface EffectIdentity {
  readonly step: string;
  readonly capability: string;
  /** Resource the effect is about; null when the arguments alone say it. */
  readonly target: string | null;
  /** Validated arguments. */
  readonly args: Json;
}

/**
 * Key of an effect: the same for every retry and replan of the same step with the same arguments.
 *
 * Shape:  68 characters, whatever goes in.
 * Errors: TypeError for arguments that are no JSON.
 * Source: requirement C24; docs/design/vocabulary.md, effect key.
 */
export function effectKey({ step, capability, target, args }: EffectIdentity): string {
  return `eff_${sha256Hex(canonicalJson([step, capability, target, sha256Hex(canonicalJson(args))]))}`;
}

/** Id the ledger gives the mutation of an effect; known before anything happened. */
export function mutationId(tenant: string, runId: string, key: string): string {
  return deriveId('mut', tenant, runId, key);
}
