// The shape of a contract for people and editors: what each field means, and the published JSON Schema.
import type { Json } from '@recourse/kernel';
import { z } from 'zod';
import { contractSchema, DIMENSIONS } from './shape.js';
import type { Contract } from './shape.js';

/** Version of the published schema; a field that is added raises the second number, one that is removed the first. */
export const CONTRACT_SCHEMA_VERSION = '1.2';

/** What each field says, in one sentence. */
export const CONTRACT_FIELD_DOCS: Readonly<Record<keyof Contract, string>> = {
  name: 'Capability the contract is about: adapter.verb_noun in lower case; the prefix names the adapter.',
  version: 'From 1, given by the registry; leave it out in files.',
  owner: 'Team or person that answers for the capability.',
  tenant: 'Tenant it holds for; absent: all.',
  effect: 'The business effect in words, as a reviewer reads it.',
  overwrites:
    'True where the call replaces a value that was there before; said, true or false, where verb, schemas or captured value suggest it.',
  impact: 'What an unintended call means: read, write, customer_visible, financial, destructive, security_sensitive.',
  approval_mode: 'How the forward call is approved: read_only, local_write, network, delegated, destructive.',
  args_schema: 'JSON Schema of the arguments; an object.',
  result_schema: 'JSON Schema of the result.',
  reversal_class:
    'reversible: a true inverse restores the state; compensable: an equivalent state with residue; irreversible: nothing after commit.',
  inverse_capability: 'Capability that restores the prior state; reversible only. It may be the capability itself.',
  compensation_capability:
    'Capability that brings about an equivalent state; compensable only. It may be the capability itself, with other arguments.',
  residue: 'What stays different after a compensation.',
  recovery_cost: 'Bound of what a compensation costs: milliseconds, and money in minor units.',
  recovery_approval_mode: 'Who lets a compensation run: auto, human, dual_control. Absent: human.',
  recovery_policy_ref: 'Recovery policy, by name, that governs the compensation.',
  compensation_mode:
    'automatic, approval_required, manual_runbook (with its runbook) or not_supported (with who accepted that), with the reason; required of every effect.',
  risk: 'What an unnecessary compensation does.',
  risk_level:
    "How much worse an unnecessary compensation can make it: low, medium, high. Absent: medium. Above the operator's limit a person decides.",
  forward_approval: 'Who lets the effect happen: policy, human, dual_control.',
  commit_hold_ms: 'Milliseconds an effect is held before it is let go; 5,000 at least.',
  cancel_capability: 'Capability that stops the effect during the hold.',
  precondition: 'Observed again when the hold ends; CEL over observed and args.',
  reversal_window_ms: 'Milliseconds from the commit within which a compensation may start.',
  expires_after_commit_ms: "A second bound of the window, such as the provider's; the shorter binds.",
  window_closed_by: 'Events that end the window before its time, in words.',
  requires_prior_value_capture: 'True where the prior value must be captured for the reversal.',
  requires_external_handle: "True where the provider's handle must be captured for the reversal.",
  reversal_args:
    "Each argument of the reversal and where it comes from: args, result, prior_value, external_ref, constant, step, call. The agent sees its tool's answer without what comes from result, unless is_public is true.",
  reversal_then:
    'Further calls of the reversal, in this order, each made once the one before it is verified, under a key of its own: capability, args, verification. An argument from call is what the verification of an earlier call saw; the first is call 1. All are of one adapter, and eight at the most.',
  reconcile_capability: 'Capability that tells whether an effect happened.',
  stale_check:
    'Observation and CEL condition (observed, bound) that must hold before anything is undone. compares says what of: last_modified, owner, status and exact_id are judged by that look alone, so check_act_gap says what can happen after it; version, etag and compare_and_swap are compared again by the tool while it writes, which is handed what the look saw (expected).',
  unchecked_because:
    'Why nothing is looked at before it is undone: nobody else can change what the reversal touches. In place of a stale_check.',
  verification: 'Observation and CEL condition (observed, bound) that must hold afterwards, by another capability.',
  blast_radius: 'Caps per run: calls, value, subjects; and the scope of one call.',
  consequence: `Per budget dimension (${DIMENSIONS.join(', ')}) a CEL expression over args and result: what a call consumes.`,
  idempotency: 'How the provider deduplicates, and for how many milliseconds it keeps a key.',
  subject: 'JSON pointer into the arguments: the business subject.',
  value: 'Money a call moves: pointer to minor units, and a currency or a pointer to one.',
  debt_weight: 'Raises the weight of a compensable effect in the budget above 0.1.',
  call_timeout_ms: 'Longest one call of the tool may take, milliseconds.',
  max_attempts: 'Dispatches of a compensation at the most, before a person decides.',
  techniques: 'Techniques of the ladder in use: hold, reservation, dry run, tombstone, prior-value capture.',
  draft: 'Set by drafts. A contract that carries it never registers.',
};

/**
 * The JSON Schema of a contract file, for editors and checks outside this project.
 *
 * Shape:  draft 2020-12. It says what can be written; what the fields must say together, the rules do.
 */
export function contractJsonSchema(): Json {
  // zod types what it writes more widely than the JSON it is.
  const generated = JSON.parse(JSON.stringify(z.toJSONSchema(contractSchema, { io: 'input' }))) as {
    readonly properties: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  };
  const described = Object.entries(generated.properties).map(([name, schema]) => [
    name,
    { description: CONTRACT_FIELD_DOCS[name as keyof Contract], ...schema },
  ]);
  return {
    ...generated,
    $id: `urn:recourse:reversal-contract:${CONTRACT_SCHEMA_VERSION}`,
    title: 'Reversal contract',
    description: 'What a capability does, how it is undone, checked, approved and bounded.',
    properties: {
      $schema: { type: 'string', description: 'Where an editor finds this schema.' },
      ...(Object.fromEntries(described) as Readonly<Record<string, Json>>),
    },
  };
}
