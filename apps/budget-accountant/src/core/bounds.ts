// What counts against an action, read from rows and from the contract in force.
//
// Boundary: looks up; holds no rules.
import type { Contract } from '@recourse/contract';
import { subjectId } from '@recourse/contract';
import type { DecideContext } from '@recourse/event-log';
import type { Reach } from '@recourse/messages';
import type { Accounts } from '../rows/kinds.js';
import { budgetsOf, standingCapability, standingRun, standingSubject } from '../rows/kinds.js';
import type { Bounds, Cap } from '../rules/budget/bounds.decisions.js';

/** What caps look at in a call. */
interface Call {
  readonly capability: string;
  readonly subjectId: string | null;
  /** How far it says it reaches; null where it does not. */
  readonly reach: Reach | null;
  readonly isSubjectless: boolean;
}

/** Id of a business subject, for counting: the ref itself stays where it was told. */
export function subjectIdOf(tenant: string, subjectRef: string | null): string | null {
  return subjectRef === null ? null : subjectId(tenant, subjectRef);
}

/** What counts against an action of these accounts. */
export function boundsOf(
  { state, now }: Pick<DecideContext, 'state' | 'now'>,
  accounts: Accounts,
  contract: Contract | undefined,
  call: Call,
): Bounds {
  const { tenant, runId } = accounts;
  return {
    budgets: budgetsOf(state, accounts, now),
    openOverruns: standingRun(state, tenant, runId).open_overruns,
    runId,
    cap:
      contract?.blast_radius === undefined
        ? null
        : capOf(state, accounts, { ...contract, radius: contract.blast_radius }, call),
    now,
  };
}

function capOf(
  state: DecideContext['state'],
  { tenant, runId: run_id }: Accounts,
  { radius, subject }: Pick<Cap, 'radius'> & Pick<Contract, 'subject'>,
  { capability, subjectId, reach, isSubjectless }: Call,
): Cap {
  const of = { tenant, run_id, capability };
  const { calls, subjects, moved } = standingCapability(state, of);
  const touched = subjectId === null ? 0 : standingSubject(state, { ...of, subject_id: subjectId }).calls;
  return {
    capability,
    radius,
    calls,
    subjects,
    moved,
    isKnownSubject: touched > 0,
    // Who is to name one subject and names none may touch many.
    reach: reach ?? (isSubjectless && subject !== undefined ? 'tenant' : 'single_subject'),
  };
}
