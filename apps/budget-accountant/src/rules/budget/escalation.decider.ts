// Decides what a person says about an escalation, and who may not say it (P5). Pure.
import { canonicalJson, isAmong, isPerson, sha256Hex } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { BodyOf, Raise } from '@recourse/messages';
import { partiesOf, rejected } from './budget.decider.js';
import { raised } from './ceiling.decider.js';
import { APPROVER_ROLE, BUDGET_ROLES, LAST_RESORT_ROLE, PLATFORM_ROLE, rolesSaid } from './budget.messages.js';
import type {
  BudgetAnswer,
  EscalationTold,
  BudgetCommand,
  BudgetRecord,
  Escalation,
  EscalationPolicy,
  Proposal,
} from './budget.messages.js';

/** What a word on an escalation is decided on, beside the command. */
export interface DecideFacts {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly policy: EscalationPolicy;
  /** Ceiling that a proposal would raise, as it was set last; null where nobody did. */
  readonly ceilingOf: (proposal: Proposal) => number | null;
  /** Who answers for an agent, by each of its charters. */
  readonly ownersOf: (agent: string) => readonly string[];
  /** Who made a contract, 64 hex digits, and the newest ones of its capability. */
  readonly editorsOf: (digest: string) => readonly string[];
}

/** What somebody says, as far as it is judged; `action_digest`: of the question as they read it, null where they do not say. */
export interface EscalationWord extends Pick<
  BudgetCommand<'DecideEscalation'>,
  'approved' | 'raise_once' | 'action_digest'
> {
  readonly envelope: Asking & { readonly tenant: string; readonly roles: readonly string[] };
}

/** Who does not decide an escalation: its parties, the agent whose ceiling it is, and who answers for the agents among them (P5). */
function barredFrom(
  { requested_by, parties = [], proposal }: Pick<Escalation, 'requested_by' | 'parties' | 'proposal'>,
  ownersOf: DecideFacts['ownersOf'],
): readonly string[] {
  const bounded = proposal?.scope === 'agent' ? proposal.scope_id : null;
  const own = partiesOf(requested_by, ...parties, bounded);
  return partiesOf(...own, ...own.flatMap(ownersOf));
}

/** Whom a question names: where two of them read alike, whoever decides is told. */
export function namedIn({
  requested_by,
  parties,
  decided_by,
}: Partial<Pick<Escalation, 'requested_by' | 'parties' | 'decided_by'>>): readonly string[] {
  return partiesOf(requested_by ?? null, ...(parties ?? []), decided_by ?? null);
}

type Question = Partial<
  Pick<
    Escalation,
    'escalation_id' | 'about' | 'proposal' | 'agent_id' | 'capability' | 'exceeded' | 'debits' | 'contract_digest'
  >
>;

/**
 * Digest of what a question asks, 64 hex digits: one id asks about a ceiling, later about an overrun, and then whether it stands.
 *
 * Source: P4. Who is to answer and until when is no part of it.
 */
export function questionDigest({
  escalation_id,
  about,
  proposal,
  agent_id,
  capability,
  exceeded,
  debits,
  contract_digest,
}: Question): string {
  const asked = { escalation_id, about, proposal, agent_id, capability, exceeded, debits, contract_digest };
  return sha256Hex(canonicalJson(asked));
}

/** Why a person's word on an escalation does not count. */
function refusalOf(
  word: EscalationWord,
  escalation: Escalation,
  { ownersOf, editorsOf }: Pick<DecideFacts, 'ownersOf' | 'editorsOf'>,
): BudgetAnswer | null {
  const { envelope: asker, approved } = word;
  if (escalation.tenant !== asker.tenant) return rejected('ESCALATION_UNKNOWN', 'there is no such escalation');
  if (isAmong(barredFrom(escalation, ownersOf), asker))
    return rejected(
      'SELF_APPROVAL',
      'nobody decides what they asked for, what is done on their behalf, or what their agent spends',
    );
  const { contract_digest: digest } = escalation;
  if (digest !== null && isAmong(editorsOf(digest), asker))
    return rejected('EDITOR_APPROVAL', 'nobody decides what is spent under a contract they registered or confirmed');
  return isPerson(asker.principal) || (!approved && stopsAlone(escalation))
    ? isAnother(word, escalation)
    : rejected(
        'APPROVER_NOT_A_PERSON',
        'only a person lets more be spent, gives back what is held or says that an overrun may not stand: no agent, no service account, no role',
      );
}

/** Is a no to it nothing but that more is not spent? Of what is held, or was spent already, it ends the question. */
function stopsAlone({ about }: Escalation): boolean {
  return about === 'ceiling' || about === 'raise';
}

/** The question is another one than the person read. */
function isAnother({ action_digest: read }: EscalationWord, question: Question): BudgetAnswer | null {
  return read === null || read.toString('hex') === questionDigest(question)
    ? null
    : rejected('DIGEST_MISMATCH', 'it asks something else by now: look at it again');
}

/** Ceilings that a question exceeds, higher by what it asks for; caps and what binds in law are no ceilings. */
function raisesOf({ about, exceeded }: Escalation): readonly Raise[] {
  if (about !== 'ceiling') return [];
  return exceeded
    .filter(({ scope, measure }) => scope !== 'capability' && (measure === 'debt' || measure === 'value'))
    .map(({ scope, scope_id, measure, currency, window, asked_minor: by_minor }) => ({
      scope,
      scope_id,
      measure,
      currency,
      window,
      by_minor,
    }));
}

/** Why a ceiling is not raised for a question alone: it takes who may let it through, and who may set what it exceeds. */
function unfitRaise(
  { envelope: { roles }, approved, raise_once }: EscalationWord,
  raises: readonly Raise[],
): BudgetAnswer | null {
  if (!raise_once) return null;
  if (!approved || raises.length === 0)
    return rejected('NOTHING_TO_RAISE', 'only what is approved and exceeds a ceiling raises one: approve or deny it');
  const setters = raises.some(({ scope }) => scope === 'platform') ? [PLATFORM_ROLE] : BUDGET_ROLES;
  return setters.some((role) => roles.includes(role))
    ? null
    : rejected('ROLE_REQUIRED', `a ceiling is raised by who may set it: ${rolesSaid(setters)}`);
}

/** Who may say this: an approver, or an administrator once it is overdue. What is the platform's those of all tenants alone raise, as they set it. */
function deciders({ envelope: { tenant }, approved }: EscalationWord, of: Escalation | null): readonly string[] {
  const isPlatforms = of?.tenant === tenant && of.proposal?.scope === 'platform';
  if (isPlatforms && approved) return [PLATFORM_ROLE];
  return isPlatforms || of?.is_overdue === true ? [APPROVER_ROLE, LAST_RESORT_ROLE] : [APPROVER_ROLE];
}

/** A yes to what waits for one comes too late at its deadline, also before anybody has said so: silence was denial. */
function tooLate({ approved }: EscalationWord, { about, deadline_at }: Escalation, now: number): BudgetAnswer | null {
  if (!approved || now < deadline_at || (about !== 'ceiling' && about !== 'raise')) return null;
  return rejected(
    'DEADLINE_PASSED',
    about === 'raise'
      ? 'nobody answered by its deadline, so that it is denied: propose it anew'
      : 'nobody answered by its deadline, so that it is denied, and this effect stays so: its agent may ask for another, in a step or run of its own',
  );
}

/** A yes to a raise is to what was read: from one ceiling to another. What stands by now may be lower, so that it would raise more. */
function movedSince(
  { approved }: EscalationWord,
  { proposal }: Escalation,
  ceilingOf: DecideFacts['ceilingOf'],
): BudgetAnswer | null {
  if (!approved || proposal === null) return null;
  const { from_minor, ceiling_minor, currency } = proposal;
  const standing = ceilingOf(proposal);
  if (standing === from_minor) return null;
  return rejected(
    'CEILING_MOVED',
    `the ceiling is ${shown(standing)} ${currency} now, and the proposal would raise it from ${shown(from_minor)} to ${shown(ceiling_minor)}: deny it, and propose anew`,
    { ceiling_minor: shown(standing), from_minor: shown(from_minor) },
  );
}

/** Somebody has said something already: the same again changes nothing. What has happened may be let stand also after a no. */
function decidedBefore(word: EscalationWord, escalation: Escalation): BudgetAnswer<EscalationTold> | null {
  const { approved, envelope: asker } = word;
  const { about, phase, decided_by } = escalation;
  if (about === 'overrun' && phase === 'denied' && approved) return null;
  return phase === (approved ? 'approved' : 'denied') && decided_by === asker.principal
    ? { kind: 'unchanged', phase: null, outcome: outcomeOf(word, escalation) }
    : rejected('ESCALATION_DECIDED', `it is ${phase}`, { phase });
}

/** Minor units, as a refusal says them. */
function shown(minor: number | null): string {
  return minor === null ? 'not set' : String(minor);
}

function outcomeOf({ approved }: EscalationWord, { escalation_id, reservation_id }: Escalation): EscalationTold {
  return { escalation_id, reservation_id, approved };
}

function roleLacking(word: EscalationWord, escalation: Escalation | null): BudgetAnswer | null {
  const roles = deciders(word, escalation);
  return roles.some((role) => word.envelope.roles.includes(role))
    ? null
    : rejected('ROLE_REQUIRED', `this is decided by: ${rolesSaid(roles)}`);
}

/** What is answered to a word that changes nothing: why it does not count, or that it was said before; null where it counts. */
export function idleWord(
  word: EscalationWord,
  escalation: Escalation,
  { now, ceilingOf, ...people }: Omit<DecideFacts, 'policy'>,
): BudgetAnswer<EscalationTold> | null {
  const refusal =
    roleLacking(word, escalation) ?? refusalOf(word, escalation, people) ?? unfitRaise(word, raisesOf(escalation));
  if (refusal !== null) return refusal;
  return escalation.phase === 'open'
    ? (tooLate(word, escalation, now) ?? movedSince(word, escalation, ceilingOf))
    : decidedBefore(word, escalation);
}

/**
 * Takes a person's word on an escalation.
 *
 * Shape:  a ceiling: approved in time is debited once, and with a raise the ceilings it exceeds are higher by as much, so that nobody
 *         else has less. An overrun: nothing more is debited. A reservation nobody used: approved, it stands for another while; denied,
 *         it is given back. A ceiling that would be raised: in time, and only as it was when that was asked for.
 */
export function decideEscalation(
  command: BudgetCommand<'DecideEscalation'>,
  escalation: Escalation | null,
  { policy, ...facts }: DecideFacts,
): BudgetAnswer<EscalationTold> {
  const { envelope: asker, approved } = command;
  if (escalation === null)
    return roleLacking(command, escalation) ?? rejected('ESCALATION_UNKNOWN', 'there is no such escalation');
  const idle = idleWord(command, escalation, facts);
  if (idle !== null) return idle;
  const { reservation_id, tenant, run_id, effect_key, about } = escalation;
  const outcome = outcomeOf(command, escalation);
  const settling = { settleBy: facts.now + policy.settleWithinMs, raises: raisesOf(escalation) };
  const event: BudgetRecord = {
    type: 'EscalationDecided',
    body: wordOf(command, escalation, settling),
  };
  if (escalation.proposal !== null && approved)
    return { kind: 'recorded', outcome, event, also: raised(escalation.proposal, asker.principal, asker.command_id) };
  if (approved || about !== 'unsettled') return { kind: 'recorded', outcome, event };
  const freed = { reservation_id, tenant, run_id, effect_key, debits: escalation.debits, cause: 'denied' } as const;
  return { kind: 'recorded', outcome, event, also: { type: 'BudgetReleased', body: freed } };
}

/** A person's word as a record: what it lets through, and until when that is to be used. */
function wordOf(
  { envelope: asker, approved, raise_once, reason }: BudgetCommand<'DecideEscalation'>,
  { reservation_id, tenant, run_id, effect_key, escalation_id, about, debits }: Escalation,
  { settleBy, raises }: { readonly settleBy: number; readonly raises: readonly Raise[] },
): BodyOf<'recourse.budgets', 'EscalationDecided'> {
  return {
    reservation_id,
    tenant,
    run_id,
    effect_key,
    escalation_id,
    approved,
    debits: about === 'ceiling' && approved ? debits : [],
    by: asker.principal,
    reason,
    command_id: asker.command_id,
    raised: raise_once ? [...raises] : [],
    settle_by: approved && (about === 'ceiling' || about === 'unsettled') ? settleBy : null,
  };
}
