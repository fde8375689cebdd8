// What deciding about recoveries needs beside the input: the policy of this process, and what rows and views say of a run.
import {
  charterFor,
  ownersEver,
  contractByDigest,
  contractByName,
  contractOfOpen,
  contractsOfCalled,
  contractView,
  editorsOf,
  entryView,
  killVerdict,
  standingEntry,
} from '@recourse/contract';
import type { StandingEntry } from '@recourse/contract';
import { NOTHING, refused, stoodIn } from '@recourse/event-log';
import type { DecideContext, Decision } from '@recourse/event-log';
import { earliestOf } from '@recourse/kernel';
import { NO_RATES, sharedRates } from '../rules/admission/pace.decisions.js';
import type { Rates } from '../rules/admission/pace.decisions.js';
import { CHILDREN_FIRST_MS } from '../rules/lineage/dependents.decisions.js';
import { FORWARD_VALID_MS, MARGIN_MS, RISK_LIMIT } from '../rules/policy.messages.js';
import type { RecoveryPolicy, RiskLevel } from '../rules/policy.messages.js';
import type { RecoveryRecord } from '../rules/record.messages.js';
import { REFUSALS } from '../rules/refusal.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';
import type { StepContext } from '../rules/step/step-draft.decisions.js';
import { isBroken, nextPlaceAt, readRows } from '../rows/kinds.js';

/** What the core is built with; the margin is two seconds, a forward approval good for a quarter of an hour, unless told. */
export type RecoveriesConfig = Omit<
  RecoveryPolicy,
  | 'marginMs'
  | 'forwardValidMs'
  | 'ownersOf'
  | 'standing'
  | 'ofOpen'
  | 'ofCalled'
  | 'bundleOf'
  | 'riskLimit'
  | 'childrenFirstMs'
  | 'earliest'
> & {
  readonly marginMs?: number;
  readonly forwardValidMs?: number;
  readonly riskLimit?: RiskLevel;
  readonly childrenFirstMs?: number;
  /** Rates of compensations, shared by the partitions of the log; none unless told. */
  readonly rates?: Rates;
};

/** The policy with everything told. */
export type CorePolicy = RecoveryPolicy & {
  readonly rates: Rates;
};

/** Fills in what nobody told. */
export function policyOf(config: RecoveriesConfig): CorePolicy {
  return {
    ...config,
    childrenFirstMs: config.childrenFirstMs ?? CHILDREN_FIRST_MS,
    rates: config.rates ?? NO_RATES,
    ownersOf: ownersIn(config.ownerOf),
    standing: () => null,
    ofOpen: () => null,
    ofCalled: () => [],
    bundleOf: () => null,
    earliest: (at) => at,
    marginMs: config.marginMs ?? MARGIN_MS,
    forwardValidMs: config.forwardValidMs ?? FORWARD_VALID_MS,
    riskLimit: config.riskLimit ?? RISK_LIMIT,
  };
}

/** Owners where no charter names any. */
function ownersIn(ownerOf: RecoveryPolicy['ownerOf']): RecoveryPolicy['ownersOf'] {
  return (tenant, agent) => {
    const owner = ownerOf(tenant, agent);
    return owner === null ? [] : [owner];
  };
}

/** `steps` are those of the run unless told. */
export function stepContext(
  { now, partitions, state, views }: DecideContext,
  runId: string,
  policy: CorePolicy,
  steps = readRows(state, 'step', runId),
): StepContext {
  const entries = views.view(entryView.name);
  return {
    now,
    steps,
    policy: {
      ...policy,
      ownerOf: (tenant, agent) => charterFor(entries, tenant, agent)?.owner ?? policy.ownerOf(tenant, agent),
      ownersOf: (tenant, agent) => [...ownersEver(entries, tenant, agent), ...policy.ownersOf(tenant, agent)],
      standing: (tenant, capability) =>
        contractByName(views.view(contractView.name), tenant, capability)?.contract ?? null,
      ofOpen: (tenant, terms) => contractOfOpen(views.view(contractView.name), tenant, terms)?.contract ?? null,
      ofCalled: (tenant, capability) => contractsOfCalled(views.view(contractView.name), tenant, capability),
      bundleOf: (tenant, name) => bundleOf(views, tenant, name),
      earliest: (at) => earliestOf(at, stoodIn(state)),
    },
    killed: (acting) => {
      const verdict = killVerdict(entries, { ...acting, isRecovery: true });
      return verdict.admitted && isBroken(state, acting.tenant, acting.capability) ? BROKEN : verdict;
    },
    rates: sharedRates(policy.rates, partitions),
    dependentsIn: (run) => readRows(state, 'dependent', run),
    nextAt: (tenant, scope, name) => nextPlaceAt(state, tenant, scope, name),
    contractOf: (digest) => contractByDigest(views.view(contractView.name), digest)?.contract ?? null,
    editorsOf: (tenant, digest) => editorsOf(views.view(contractView.name), tenant, digest),
  };
}

/** What a breaker over a capability says of it. */
export const BROKEN = {
  admitted: false,
  code: 'BREAKER_OPEN',
  reason: 'a burst opened the breaker over the capability that would be called',
} as const;

/** Nobody approves before it is known who edited the contract up to now: an edit of a moment ago may not be in the view. */
export function readEditors({ views }: DecideContext): void {
  views.readToEnd();
}

/** A bundle that the view does not know may have been registered a moment ago. */
function bundleOf(views: DecideContext['views'], tenant: string, name: string): StandingEntry<'policy_bundle'> | null {
  const known = standingEntry(views.view(entryView.name), 'policy_bundle', tenant, name);
  if (known !== undefined) return known;
  views.readToEnd();
  return standingEntry(views.view(entryView.name), 'policy_bundle', tenant, name) ?? null;
}

/** The view may not have come as far as who names a contract. */
export function readUpToContract({ views }: DecideContext, digest: unknown): void {
  if (Buffer.isBuffer(digest) && contractByDigest(views.view(contractView.name), digest) === undefined)
    views.readToEnd();
}

/** A decision that answers nobody. */
export function append(records: readonly RecoveryRecord[]): Decision<never> {
  return records.length === 0 ? NOTHING : { records };
}

/** Refuses a command; the refusal is its answer. */
export function refuse({ code, message, ...more }: Refusal): Decision<never> {
  return refused(REFUSALS[code], code, message, more);
}
