// What binds a recovery now: the contract its effect was executed under, that contract as it stands, and the recovery policies
// both name. The strictest of each counts, at the plan and again at every dispatch (C45).
//
// Boundary: pure; what stands comes in with the policy.
//
// Invariants
//   I1. It tightens and never loosens: what an effect was bound to stays, and so does what was tightened when its version is retired.
//   I2. A policy that is not registered, or a rule that cannot be judged, decides nothing: a person does (P14).
import {
  boundNow,
  capabilitiesOf,
  MODES_BY_STRICTNESS,
  readPayload,
  recoveryVerdict,
  stricter,
} from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type {
  ContractTerms,
  Evidence,
  Execution,
  InForce,
  MutationRef,
  RecoveryApprovalMode,
} from '@recourse/messages';
import type { RecoveryPolicy } from '../policy.messages.js';
import { risksByHarm } from './recovery.decisions.js';
import type { Handle, Policies } from './recovery.decisions.js';

/** A mutation as far as contracts and policies speak about it. */
export interface Governed {
  readonly tenant: string;
  readonly mutation_id: string;
  readonly execution: Execution;
  readonly evidence: Evidence;
  readonly ref: MutationRef;
}

/** What binds a recovery now. */
export interface Binding {
  /** The terms of the effect, with what is stricter by now. */
  readonly terms: ContractTerms;
  /** The pointer, with a window that ends sooner by now. */
  readonly ref: MutationRef;
  /** Why machines may not undo it by now; null where they may. */
  readonly withheld: Extract<Handle, 'irreversible' | 'no_reversal'> | null;
  readonly policies: Policies;
  /** As the log keeps it. */
  readonly told: InForce;
}

/** Where contracts and policies stand. */
type Standing = Pick<RecoveryPolicy, 'ofOpen' | 'ofCalled' | 'bundleOf'>;

/** What binds the recovery of an effect that was executed under these terms. */
export function inForce(asked: Governed, terms: ContractTerms, standing: Standing): Binding {
  const now = standing.ofOpen(asked.tenant, terms);
  const bound = boundNow({ ...terms, ...asked.ref }, now, calledBy(asked, standing));
  const tightened: ContractTerms = {
    ...terms,
    impact: bound.impact,
    risk_level: stricter(terms.risk_level, now === null ? terms.risk_level : (now.risk_level ?? 'medium'), risksByHarm),
  };
  const ruling = rulingOf({ ...asked, terms: tightened }, policiesOf(terms, now), standing);
  const mode = stricter(bound.recovery_approval_mode, ruling.approval ?? 'auto', MODES_BY_STRICTNESS);
  return {
    terms: { ...tightened, recovery_approval_mode: mode },
    ref: { ...asked.ref, reversal_expires_at: bound.reversal_expires_at },
    withheld: bound.withheld === null ? null : WITHHELD[bound.withheld],
    policies: ruling.approval === null ? 'undecided' : 'decided',
    told: {
      contract_version: now?.version ?? terms.contract_version,
      approval_mode: mode,
      risk_level: tightened.risk_level,
      rules: ruling.rules,
    },
  };
}

/** The pointer with the window as it is in force: what people are asked within, and told is left. */
export function refInForce(
  { tenant, ref, terms }: Pick<Governed, 'tenant' | 'ref'> & { readonly terms: ContractTerms | null },
  { ofOpen }: Pick<Standing, 'ofOpen'>,
): MutationRef {
  if (terms === null) return ref;
  return { ...ref, reversal_expires_at: boundNow({ ...terms, ...ref }, ofOpen(tenant, terms)).reversal_expires_at };
}

/** The handle as it counts by now: a contract that gave up its way back, or left it to people, withholds it. */
export function handleInForce(handle: Handle, binding: Binding | null): Handle {
  const withheld = binding?.withheld ?? null;
  return withheld === null || handle === 'uncontracted' || handle === 'read_only' ? handle : withheld;
}

/** People agreed, or nobody had to, before the contract called it riskier. */
export function isRiskier({ told }: Binding, before: InForce | null): boolean {
  return before !== null && risksByHarm.indexOf(told.risk_level) > risksByHarm.indexOf(before.risk_level);
}

const WITHHELD = { IRREVERSIBLE: 'irreversible', NO_REVERSAL: 'no_reversal' } as const;

/** Contracts of what its undo calls, as far as they are known. */
function calledBy({ tenant, ref }: Governed, { ofCalled }: Standing): readonly Contract[] {
  const { reversal_capability: capability, reversal_then: then } = ref;
  if (capability === null) return [];
  return capabilitiesOf({ capability, then }).flatMap((name) => ofCalled(tenant, name));
}

function policiesOf({ recovery_policy_ref: bound }: ContractTerms, now: Contract | null): readonly string[] {
  return [...new Set([bound, now?.recovery_policy_ref ?? null])].filter((name) => name !== null);
}

/** `approval` is null where a policy is not registered or cannot be judged. */
interface Ruling {
  readonly approval: RecoveryApprovalMode | null;
  readonly rules: readonly string[];
}

function rulingOf(
  asked: Governed & { readonly terms: ContractTerms },
  names: readonly string[],
  { bundleOf }: Standing,
): Ruling {
  let ruling: Ruling & { readonly approval: RecoveryApprovalMode } = { approval: 'auto', rules: [] };
  for (const name of names) {
    const bundle = bundleOf(asked.tenant, name);
    if (bundle === null) return { approval: null, rules: [`${name}: not registered`] };
    const place = `${name}@${String(bundle.version)}`;
    const verdict = recoveryVerdict(bundle.entry, factsFor(asked, bundle.entry.recovery.some(mayReadStatement)));
    if (!verdict.decided) return { approval: null, rules: [`${place}/${verdict.rule}: ${verdict.detail}`] };
    ruling = {
      approval: stricter(ruling.approval, verdict.approval, MODES_BY_STRICTNESS),
      rules: [...ruling.rules, ...verdict.rules.map((rule) => `${place}/${rule}`)],
    };
  }
  return ruling;
}

/** Members of the evidence that are in clear. */
const CLEAR_EVIDENCE = /\bevidence\.(?:kind|event_id|ref|source|stated_at)\b/g;

/** False for a rule that names nothing of the evidence but what is in clear: nobody opens what nobody reads. */
function mayReadStatement({ when }: { readonly when: string }): boolean {
  return when.replaceAll(CLEAR_EVIDENCE, '').includes('evidence');
}

/** What rules read. What is not known is not there, so that `has(…)` tells. */
function factsFor(
  { mutation_id, execution, evidence, ref, terms }: Governed & { readonly terms: ContractTerms },
  isStatementRead: boolean,
): { readonly mutation: Json; readonly evidence: Json } {
  return {
    mutation: known({
      mutation_id,
      capability: execution.capability,
      agent_id: execution.agent_id,
      run_id: execution.run_id,
      initiator: execution.initiator,
      subject_ref: ref.subject_ref,
      reversal_class: ref.reversal_class,
      committed_at: ref.committed_at,
      contract_version: terms.contract_version,
      impact: terms.impact,
      risk_level: terms.risk_level,
      amount_minor: execution.value?.amount_minor ?? null,
      currency: execution.value?.currency ?? null,
    }),
    evidence: known({
      kind: evidence.kind,
      event_id: evidence.event_id,
      ref: evidence.ref,
      source: evidence.source,
      stated_at: evidence.stated_at,
      statement: isStatementRead ? statementOf(evidence) : null,
    }),
  };
}

/** A sealed statement is not known here. */
function statementOf({ statement }: Evidence): Json {
  if (statement === null || statement.encoding === 'sealed') return null;
  return readPayload(statement);
}

function known(facts: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
}
