// What entries decide: admission, approval, intents, age of context, kill switches, who hears of a rollback. Pure; fails closed.
import { personKey } from '@recourse/kernel';
import type { Asking, Json } from '@recourse/kernel';
import type { RecoveryApprovalMode } from '@recourse/messages';
import { evaluateExpression } from '../condition.js';
import { RECOVERY_APPROVAL_MODES } from '../shape.js';
import type { EntryBody } from './shapes.js';

export type Verdict =
  { readonly admitted: true } | { readonly admitted: false; readonly code: VerdictCode; readonly reason: string };

export type VerdictCode =
  | 'POLICY_REFUSED'
  | 'POLICY_UNDECIDED'
  | 'INTENT_DENIED'
  | 'INTENT_NOT_ALLOWED'
  | 'SOURCE_UNKNOWN'
  | 'EVIDENCE_STALE'
  | 'KILLED';

const ADMITTED: Verdict = { admitted: true };

/** Admits a commit when every predicate holds; one that cannot be judged refuses. */
export function admissionVerdict(
  { admission }: EntryBody<'policy_bundle'>,
  facts: { readonly gate: Json; readonly state: Json },
): Verdict {
  for (const { name, when, reason } of admission) {
    const judged = evaluateExpression(when, facts);
    if (!judged.ok) return refused('POLICY_UNDECIDED', `${name} cannot be judged: ${judged.detail}`);
    if (!judged.holds) return refused('POLICY_REFUSED', `${name}: ${reason}`);
  }
  return ADMITTED;
}

/** What the recovery rules of a bundle say of one mutation. */
export type RecoveryVerdict =
  | { readonly decided: true; readonly approval: RecoveryApprovalMode; readonly rules: readonly string[] }
  | { readonly decided: false; readonly rule: string; readonly detail: string };

/** The strictest approval of the rules that apply, with their names; a rule that cannot be judged leaves it undecided. */
export function recoveryVerdict(
  { recovery }: EntryBody<'policy_bundle'>,
  facts: { readonly mutation: Json; readonly evidence: Json },
): RecoveryVerdict {
  let approval: RecoveryApprovalMode = 'auto';
  const rules: string[] = [];
  for (const rule of recovery) {
    const judged = evaluateExpression(rule.when, facts);
    if (!judged.ok) return { decided: false, rule: rule.name, detail: judged.detail };
    if (!judged.holds) continue;
    rules.push(rule.name);
    if (rank(rule.approval) > rank(approval)) approval = rule.approval;
  }
  return { decided: true, approval, rules };
}

/** Deny wins; what is neither allowed nor denied is not allowed (D59). */
export function intentVerdict({ agent, allowed, denied }: EntryBody<'agent_charter'>, intent: string): Verdict {
  const denying = denied.find((pattern) => matches(pattern, intent));
  if (denying !== undefined) return refused('INTENT_DENIED', `the charter of ${agent} denies ${denying}`);
  return allowed.some((pattern) => matches(pattern, intent))
    ? ADMITTED
    : refused('INTENT_NOT_ALLOWED', `the charter of ${agent} does not allow ${intent}`);
}

/** Who acts with what. */
export interface Acting {
  readonly tenant: string;
  readonly agent: string;
  readonly capability: string;
  /** Who says so, by their token: a switch over them stops it too, whatever agent they name. */
  readonly asker?: Asking;
  /** The call takes back what the agent did, and does not act for it. */
  readonly isRecovery?: boolean;
}

/** A kill switch as it stands; tenant `*` is over all. */
export interface StandingSwitch {
  readonly name: string;
  readonly tenant: string;
  readonly entry: EntryBody<'kill_switch'>;
}

/** Says whether one of these switches stops this. */
export function switchVerdict(switches: readonly StandingSwitch[], acting: Acting): Verdict {
  const stopping = switches.find(
    ({ tenant, entry: { scope } }) => (tenant === acting.tenant || tenant === '*') && isOver(scope, acting),
  );
  return stopping === undefined
    ? ADMITTED
    : refused(
        'KILLED',
        `the kill switch ${stopping.name} stops ${stopping.entry.scope.over === 'tenant' ? 'the tenant' : `this ${stopping.entry.scope.over}`}: ${stopping.entry.reason}`,
      );
}

/** A switch over an agent stops the agent; the undoing of what it did only where the switch says so. */
export function isOver(
  scope: EntryBody<'kill_switch'>['scope'],
  { agent, capability, isRecovery = false }: Acting,
): boolean {
  switch (scope.over) {
    case 'tenant':
      return true;
    case 'agent':
      return personKey(scope.agent) === personKey(agent) && (!isRecovery || scope.halts_recovery === true);
    case 'capability':
      return scope.capability === capability;
  }
}

/** A charter and whose it is; tenant `*` is the platform. */
export interface StandingCharter {
  readonly tenant: string;
  readonly entry: EntryBody<'agent_charter'>;
}

/** What charters of one agent say: the tenant's own and the platform's must both allow it, so that neither loosens the other. */
export function chartersVerdict(charters: readonly StandingCharter[], intent: string): Verdict {
  const owners = [...new Set(charters.map(({ tenant }) => tenant))];
  const verdicts = owners.map((owner) => {
    const joined = joinedCharter(charters.flatMap(({ tenant, entry }) => (tenant === owner ? [entry] : [])));
    return joined === undefined ? ADMITTED : intentVerdict(joined, intent);
  });
  return verdicts.find(({ admitted }) => !admitted) ?? ADMITTED;
}

/** Charters of one agent as one. `owner` is the first's, which is shown; each of `owners` answers for the agent (P5). */
export type JoinedCharter = EntryBody<'agent_charter'> & { readonly owners: readonly string[] };

/** Joins charters of one agent: all that is denied is denied, allowed is what any allows, and whoever owns one answers for it. */
export function joinedCharter(charters: readonly EntryBody<'agent_charter'>[]): JoinedCharter | undefined {
  const [first] = charters;
  return first === undefined
    ? undefined
    : {
        ...first,
        owners: [...new Set(charters.map(({ owner }) => owner))],
        allowed: charters.flatMap(({ allowed }) => allowed),
        denied: charters.flatMap(({ denied }) => denied),
      };
}

/** Takes context as evidence only within its time to live (D56). Units: epoch milliseconds; at exactly ttl_ms it is over. */
export function evidenceVerdict(
  source: EntryBody<'context_source'> | undefined,
  observedAt: number,
  now: number,
): Verdict {
  if (source === undefined) return refused('SOURCE_UNKNOWN', 'no such context source is registered');
  const age = now - observedAt;
  return age >= 0 && age < source.ttl_ms
    ? ADMITTED
    : refused(
        'EVIDENCE_STALE',
        age < 0 ? 'it was observed in the future' : `it is ${age} ms old, and lives ${source.ttl_ms} ms`,
      );
}

/** True when a subscriber's scope covers a commit: `*` stands for one part, and a subject goes on part by part (`order/4711` is below `order`). */
export function isInScope(
  scope: string,
  commit: { readonly tenant: string; readonly agent: string; readonly run: string; readonly subject: string },
): boolean {
  const parts = [commit.tenant, commit.agent, commit.run, ...commit.subject.split('/')];
  return scope.split('/').every((part, at) => at < parts.length && (part === '*' || part === parts[at]));
}

function matches(pattern: string, intent: string): boolean {
  return pattern.endsWith('*') ? intent.startsWith(pattern.slice(0, -1)) : intent === pattern;
}

function rank(mode: RecoveryApprovalMode): number {
  return RECOVERY_APPROVAL_MODES.findIndex((each) => each === mode);
}

function refused(code: VerdictCode, reason: string): Verdict {
  return { admitted: false, code, reason };
}
