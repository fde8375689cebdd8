// Shape of a reversal contract (docs/design/contracts.md): which fields there are and what each may hold.
//
// Boundary: shape only. What fields mean together is said by rules.ts. Optional fields carry no defaults here, so the
// canonical JSON of a contract holds what its author wrote and nothing else; terms.ts resolves what is left out.
import { z } from 'zod';

/** `adapter.verb_noun`, e.g. `payments.issue_refund`; the prefix names the adapter. At most 128 characters. */
export const CAPABILITY_PATTERN = /^[a-z][a-z0-9-]{0,62}\.[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;

/** Longest contract body, bytes of canonical JSON: a registration is one wire record, and those end at 256 KB. */
export const BODY_BYTES_MAX = 65_536;

export const REVERSAL_CLASSES = ['reversible', 'compensable', 'irreversible'] as const;
export const IMPACTS = ['read', 'write', 'customer_visible', 'financial', 'destructive', 'security_sensitive'] as const;
export const APPROVAL_MODES = ['read_only', 'local_write', 'network', 'delegated', 'destructive'] as const;
export const RECOVERY_APPROVAL_MODES = ['auto', 'human', 'dual_control'] as const;
export const FORWARD_APPROVALS = ['policy', 'human', 'dual_control'] as const;
export const COMPENSATION_MODES = ['automatic', 'approval_required', 'manual_runbook', 'not_supported'] as const;
/** How much worse an unnecessary compensation can make it. */
export const RISK_LEVELS = ['low', 'medium', 'high'] as const;
export const STALE_COMPARISONS = [
  'version',
  'etag',
  'last_modified',
  'owner',
  'status',
  'exact_id',
  'compare_and_swap',
] as const;
export const BLAST_SCOPES = ['single_subject', 'tenant', 'cross_tenant'] as const;
export const DIMENSIONS = ['money', 'comms', 'commitments', 'exposure', 'regulatory'] as const;

const TEXT_MAX = 2_000;
const text = () => z.string().trim().min(1).max(TEXT_MAX);
const capability = () => z.string().max(128).regex(CAPABILITY_PATTERN);
const pointer = () =>
  z
    .string()
    .max(256)
    .regex(/^(?:\/(?:[^~/]|~[01])*)+$/);
const expression = () => z.string().min(1).max(TEXT_MAX);
const currency = () => z.string().regex(/^[A-Z]{3}$/);
const millis = () => z.int().min(0);
const money = () => z.strictObject({ amount_minor: z.int().min(0), currency: currency() });
const jsonSchema = () => z.record(z.string(), z.unknown());

/** Where one argument of the reversal comes from; `path` is a JSON pointer into the source. */
const reversalArg = () =>
  z.discriminatedUnion('from', [
    z.strictObject({ from: z.literal('args'), path: pointer() }),
    /** `is_public`: the agent may see it, like a number that everybody calls the thing by. */
    z.strictObject({ from: z.literal('result'), path: pointer(), is_public: z.literal(true).optional() }),
    z.strictObject({ from: z.literal('prior_value'), path: pointer().optional() }),
    z.strictObject({ from: z.literal('external_ref') }),
    z.strictObject({ from: z.literal('constant'), value: z.json() }),
    /**
     * What the verified compensation of another effect of the run answered: the one effect of `capability` about the same subject.
     * Known only then, so bound only then.
     */
    z.strictObject({ from: z.literal('step'), capability: capability(), path: pointer().optional() }),
  ]);

const verification = () =>
  z.strictObject({
    verify_capability: capability(),
    success_condition: expression(),
    max_attempts: z.int().min(1).max(100),
    delay_ms: millis().optional(),
  });

const staleCheck = () =>
  z.strictObject({
    observe_capability: capability(),
    compares: z.enum(STALE_COMPARISONS),
    condition: expression(),
    /** What can happen between check and act where the tool has no conditional write (P7). */
    check_act_gap: text().optional(),
    /** What it observes that changes by itself, such as a time of reading: no fact anybody relies on. */
    volatile: z.array(pointer()).max(32).optional(),
  });

/** `runbook`: what a person works from, as a link or a path; `accepted_by`: who accepted that nothing undoes it. */
const compensationMode = () =>
  z.strictObject({
    mode: z.enum(COMPENSATION_MODES),
    reason: text(),
    runbook: text().optional(),
    accepted_by: text().optional(),
  });
/** Observed again when a hold ends, before the effect is let go. */
const precondition = () => z.strictObject({ observe_capability: capability(), condition: expression() });
const blastRadius = () =>
  z.strictObject({
    max_calls_per_run: z.int().min(0).optional(),
    max_value_per_run: money().optional(),
    max_subjects_per_run: z.int().min(0).optional(),
    scope: z.enum(BLAST_SCOPES),
  });

/** How the provider deduplicates; `key_lifetime_ms` absent: it takes no idempotency key. */
const idempotency = () => z.strictObject({ mechanism: text(), key_lifetime_ms: z.int().min(1).optional() });
const techniques = () =>
  z.strictObject({
    hold: z.boolean().optional(),
    reservation: z.boolean().optional(),
    dry_run_capability: capability().optional(),
    tombstone_ttl_ms: millis().optional(),
    prior_value_capture: z.boolean().optional(),
  });

/** The fields of a contract. Unknown fields are refused at every level. */
export const CONTRACT_SHAPE = {
  name: capability(),
  version: z.int().min(1).max(2_147_483_647).optional(),
  owner: text(),
  tenant: z.string().min(1).max(128).optional(),
  effect: text(),
  overwrites: z.boolean().optional(),
  impact: z.enum(IMPACTS),
  approval_mode: z.enum(APPROVAL_MODES),
  args_schema: jsonSchema(),
  result_schema: jsonSchema(),
  reversal_class: z.enum(REVERSAL_CLASSES).optional(),
  inverse_capability: capability().optional(),
  compensation_capability: capability().optional(),
  residue: text().optional(),
  recovery_cost: z.strictObject({ time_ms: millis(), value: money() }).optional(),
  recovery_approval_mode: z.enum(RECOVERY_APPROVAL_MODES).optional(),
  recovery_policy_ref: text().optional(),
  compensation_mode: compensationMode().optional(),
  risk: text().optional(),
  risk_level: z.enum(RISK_LEVELS).optional(),
  forward_approval: z.enum(FORWARD_APPROVALS).optional(),
  commit_hold_ms: millis().optional(),
  cancel_capability: capability().optional(),
  precondition: precondition().optional(),
  reversal_window_ms: z.int().min(1).optional(),
  expires_after_commit_ms: z.int().min(1).optional(),
  window_closed_by: z.array(text()).max(32).optional(),
  requires_prior_value_capture: z.boolean().optional(),
  requires_external_handle: z.boolean().optional(),
  reversal_args: z.record(z.string().min(1).max(128), reversalArg()).optional(),
  reconcile_capability: capability().optional(),
  stale_check: staleCheck().optional(),
  /** Why nothing is looked at before it is undone: nobody else can change what the reversal touches. */
  unchecked_because: text().optional(),
  verification: verification().optional(),
  blast_radius: blastRadius().optional(),
  consequence: z.partialRecord(z.enum(DIMENSIONS), expression()).optional(),
  idempotency: idempotency().optional(),
  /** JSON pointer into the arguments: the business subject. */
  subject: pointer().optional(),
  /** Money moved: a pointer into the arguments to minor units, and a currency code or a pointer to one. */
  value: z.strictObject({ amount: pointer(), currency: z.union([currency(), pointer()]) }).optional(),
  /** Raises the weight of a compensable capability above 0.1 (A77). */
  debt_weight: z.number().min(0).max(1).multipleOf(0.001).optional(),
  call_timeout_ms: z.int().min(1).max(3_600_000).optional(),
  max_attempts: z.int().min(1).max(100).optional(),
  techniques: techniques().optional(),
  /** Where a draft was made from. A contract that carries it never registers: a person decides, then takes it out. */
  draft: text().optional(),
} as const;

export const contractSchema = z.strictObject(CONTRACT_SHAPE);

type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** A reversal contract, as its author wrote it; plain readonly data. */
export type Contract = DeepReadonly<z.infer<typeof contractSchema>>;

/** What can be read of a contract whose shape has problems: the fields that are well. */
export type ContractDraft = { readonly [Field in keyof Contract]?: Contract[Field] | undefined };

export type ReversalArg = NonNullable<Contract['reversal_args']>[string];
