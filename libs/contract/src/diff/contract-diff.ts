// What two versions of a contract differ in, and whether the newer is weaker. Weakening takes two people (docs/design/contracts.md).
import type { Json } from '@recourse/kernel';
import { APPROVAL_MODES, BLAST_SCOPES, FORWARD_APPROVALS, RECOVERY_APPROVAL_MODES, RISK_LEVELS } from '../shape.js';
import type { Contract } from '../shape.js';
import { MAX_ATTEMPTS } from '../terms.js';
import {
  cap,
  changed,
  check,
  claim,
  concedes,
  count,
  demand,
  demands,
  entries,
  fields,
  guard,
  ladder,
  text,
} from './comparers.js';
import type { Comparer, Difference } from './comparers.js';
import { consequenceDifferences } from './consequence-diff.js';
import { argsSchema } from './schema-diff.js';

/** Fields of which two versions of one capability never differ, or that are the registry's own. */
type NotCompared = 'name' | 'version' | 'tenant' | 'draft';
/** Fields that are weighed beside each other. */
type ComparedTogether = 'value' | 'consequence';

const IMPACT_LADDER = ['read', 'write', 'customer_visible', 'financial'];
const MODE_LADDER = ['automatic', 'approval_required', 'manual_runbook'];
const money = (reasons: Parameters<typeof cap>[0]): Comparer =>
  fields({ amount_minor: cap(reasons), currency: check('the currency') }, check('the cap'));
const observation = (what: string): Comparer =>
  fields(
    {
      observe_capability: check('the observer'),
      verify_capability: check('the observer'),
      compares: check('what is compared'),
      condition: check('the condition'),
      success_condition: check('the condition'),
      check_act_gap: text('the gap is worded differently'),
      volatile: concedes('what counts as no fact'),
      max_attempts: changed('neutral', 'how often one looks proves neither more nor less'),
      delay_ms: changed('neutral', 'when one looks proves neither more nor less'),
    },
    check(what),
  );

/** How each field is weighed; a field without an entry does not compile. */
const COMPARERS: Readonly<Record<Exclude<keyof Contract, NotCompared | ComparedTogether>, Comparer>> = {
  owner: text('somebody else answers for it'),
  effect: text('the effect is worded differently'),
  overwrites: demand({
    weaker: 'overwriting is no longer said, so no prior value is asked for',
    stronger: 'overwriting is said',
  }),
  impact: impactChange,
  approval_mode: ladder(APPROVAL_MODES, 'network', {
    weaker: 'the forward call is approved more lightly',
    stronger: 'the forward call is approved more strictly',
  }),
  args_schema: argsSchema,
  result_schema: changed(
    'neutral',
    'the result has another shape; arguments and conditions that read it are checked against it',
  ),
  reversal_class: classChange,
  inverse_capability: check('what undoes it'),
  compensation_capability: check('what compensates it'),
  residue: text('what remains is worded differently'),
  recovery_cost: fields(
    {
      time_ms: cap({ weaker: 'a compensation may take longer', stronger: 'a compensation takes less time' }),
      value: fields(
        {
          amount_minor: changed('weakening', 'a compensation may cost more, or the debt of the effect weighs less'),
          currency: check('the currency'),
        },
        check('the cap'),
      ),
    },
    check('the bound of the cost'),
  ),
  recovery_approval_mode: ladder(RECOVERY_APPROVAL_MODES, 'human', {
    weaker: 'fewer people are asked before it is undone',
    stronger: 'more people are asked before it is undone',
  }),
  recovery_policy_ref: check('the recovery policy'),
  compensation_mode: fields(
    {
      mode: modeChange,
      reason: text('the reason is worded differently'),
      runbook: text('people work from another runbook'),
      accepted_by: text('somebody else accepted it'),
    },
    changed('neutral', 'the mode follows from the class and the approval where it is not said'),
  ),
  risk: text('the risk is worded differently'),
  risk_level: ladder(RISK_LEVELS, 'medium', {
    weaker: 'an unnecessary compensation is said to do less harm',
    stronger: 'an unnecessary compensation is said to do more harm',
  }),
  forward_approval: ladder(FORWARD_APPROVALS, 'policy', {
    weaker: 'fewer people are asked before it happens',
    stronger: 'more people are asked before it happens',
  }),
  commit_hold_ms: guard({ weaker: 'there is less time to cancel', stronger: 'there is more time to cancel' }),
  cancel_capability: check('what cancels it'),
  precondition: observation('the precondition'),
  reversal_window_ms: cap({
    weaker: 'machines may undo it for longer',
    stronger: 'machines may undo it for a shorter time',
  }),
  expires_after_commit_ms: cap({
    weaker: 'machines may undo it for longer',
    stronger: 'machines may undo it for a shorter time',
  }),
  window_closed_by: demands('an event that closes the window'),
  requires_prior_value_capture: demand({
    weaker: 'the prior value need not be captured',
    stronger: 'the prior value must be captured',
  }),
  requires_external_handle: demand({
    weaker: 'the handle need not be captured',
    stronger: 'the handle must be captured',
  }),
  reversal_args: entries(
    changed('weakening', 'the reversal gets another argument, and nothing shows that it still means the same resource'),
  ),
  reversal_then: furtherCalls,
  reconcile_capability: check('what tells whether it happened'),
  stale_check: observation('the check before undoing'),
  unchecked_because: text('why nothing is checked is worded differently'),
  verification: observation('the verification'),
  blast_radius: fields({
    max_calls_per_run: cap({ weaker: 'a run may call it more often', stronger: 'a run may call it less often' }),
    max_value_per_run: money({ weaker: 'a run may move more', stronger: 'a run may move less' }),
    max_subjects_per_run: cap({ weaker: 'a run may touch more subjects', stronger: 'a run may touch fewer subjects' }),
    scope: ladder([...BLAST_SCOPES].reverse(), 'cross_tenant', {
      weaker: 'one call may reach further',
      stronger: 'one call reaches less far',
    }),
  }),
  idempotency: fields(
    {
      mechanism: text('deduplication is worded differently'),
      key_lifetime_ms: claim({
        weaker: 'second attempts are made later, on the word that the provider still knows the key',
        stronger: 'second attempts end earlier',
      }),
    },
    check('the word on repeated calls'),
  ),
  subject: check('what subjects are counted by'),
  debt_weight: guard({ weaker: 'its debt weighs less', stronger: 'its debt weighs more' }),
  call_timeout_ms: changed('neutral', 'how long a call may take bounds nothing but the wait'),
  max_attempts: count(MAX_ATTEMPTS, {
    weaker: 'it is tried more often before a person is asked',
    stronger: 'it is tried less often before a person is asked',
  }),
  techniques: fields({
    hold: demand({ weaker: 'the hold is no longer claimed', stronger: 'the hold is claimed' }),
    reservation: demand({ weaker: 'the reservation is given up', stronger: 'it is reserved first' }),
    dry_run_capability: check('the dry run'),
    tombstone_ttl_ms: guard({
      weaker: 'what is deleted is kept for a shorter time',
      stronger: 'what is deleted is kept for longer',
    }),
    prior_value_capture: demand({ weaker: 'the capture is given up', stronger: 'the prior value is captured' }),
  }),
};

/** Lists every difference of two versions, weakening ones first. */
export function diffContracts(older: Contract, newer: Contract): readonly Difference[] {
  const before: Readonly<Record<string, unknown>> = { ...older };
  const after: Readonly<Record<string, unknown>> = { ...newer };
  const all = Object.entries(COMPARERS).flatMap(([field, compare]) =>
    // Contracts are plain JSON data; a field that is not there is undefined.
    compare(before[field] as Json | undefined, after[field] as Json | undefined, `/${field}`),
  );
  const order = ['weakening', 'strengthening', 'neutral'];
  return [...all, ...consequenceDifferences(older, newer)].sort(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind),
  );
}

/** True when a second person has to confirm the newer version. */
export function isWeakening(differences: readonly Difference[]): boolean {
  return differences.some(({ kind }) => kind === 'weakening');
}

/** What is called more does more by itself; what is called less leaves some of the effect. */
function furtherCalls(from: Json | undefined, to: Json | undefined, path: string): readonly Difference[] {
  return changed(
    'weakening',
    from === undefined
      ? 'more is called to undo it, and nothing shows that it undoes'
      : 'something else is called to undo it, and nothing shows that it undoes as much',
  )(from, to, path);
}

function impactChange(from: Json | undefined, to: Json | undefined, path: string): readonly Difference[] {
  const rank = (value: Json | undefined): number => {
    const at = IMPACT_LADDER.indexOf(typeof value === 'string' ? value : '');
    return at < 0 ? IMPACT_LADDER.length - 1 : at;
  };
  if (from === to) return [];
  if (rank(from) === rank(to))
    return changed('weakening', 'what the former impact demanded is no longer demanded')(from, to, path);
  return rank(to) < rank(from)
    ? changed('weakening', 'it counts as less grave')(from, to, path)
    : changed('strengthening', 'it counts as graver')(from, to, path);
}

function classChange(from: Json | undefined, to: Json | undefined, path: string): readonly Difference[] {
  const order = ['irreversible', 'compensable', 'reversible'];
  const rank = (value: Json | undefined): number => Math.max(0, order.indexOf(typeof value === 'string' ? value : ''));
  if (from === to) return [];
  return changed(
    'weakening',
    rank(to) < rank(from) ? 'less of it can be undone' : 'it claims to be undone more easily, and its debt weighs less',
  )(from, to, path);
}

function modeChange(from: Json | undefined, to: Json | undefined, path: string): readonly Difference[] {
  if (from === to) return [];
  if (to === 'not_supported') return changed('weakening', 'the way back is given up')(from, to, path);
  if (from === 'not_supported') return changed('strengthening', 'there is a way back')(from, to, path);
  return ladder(MODE_LADDER, 'approval_required', {
    weaker: 'machines do more of it alone',
    stronger: 'people do more of it',
  })(from, to, path);
}
