// Rows of rollbacks and of undos: what was said, what holds it, what became of it. What accepted records make, and nothing else (L2).
//
// Rows: `rollback` and `undo` by run. Timers: a rollback that is admitted once its commit can be marked, or at its deadline; one
// that waits for a person at its deadline; an undo as long as more of its effects are to be named.
import { foldEach } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import { fallenIn, recoveryIdOf, rolledBackIn } from '@recourse/messages';
import type { Fallen } from '@recourse/messages';
import { claimAfter, isHandleAsked } from '../rules/handle/handle.decider.js';
import { rollbackKey } from '../rules/identity.js';
import { OWNER_OF_MARKS } from '../rules/owners.js';
import { alsoSaid, alsoWithout, isRemembered, isTimed, MARK_WITHIN_MS } from '../rules/rollback/rollback.decider.js';
import { passedWith } from '../rules/rollback/bound.decider.js';
import type { Admitted, RollbackDoc, RollbackMark } from '../rules/rollback/rollback.messages.js';
import { rollbackPhaseAfter } from '../rules/rollback/rollback.transitions.js';
import type { RollbackEvent, RollbackPhase } from '../rules/rollback/rollback.transitions.js';
import type { UndoDoc } from '../rules/undo/undo.messages.js';
import { undoPhaseAfter } from '../rules/undo/undo.transitions.js';
import { isRecorded } from '../rules/mutation/mutation.messages.js';
import { commitIn } from './commit.rows.js';
import type { Fold } from './fold.js';
import { countAdmitted, heldPut, unlisted } from './limit.rows.js';
import type { DraftFold } from './limit.rows.js';
import { mutationIn } from './mutation.rows.js';

/** Rows that admission changes; a decision folds them too, over what it has decided so far. */
export const ADMISSION_FOLD = {
  MutationsFell: (body, state, { decidedAt: at, seq }) =>
    foldEach(state, fallenIn(body), ({ execution, terms, ...about }, rows, member) => {
      const { agent_id, subject_ref } = execution;
      const mark = markBy(about, { seq, member, at, has_effect: true, subject_ref });
      const of = { agent_id, policy: terms?.recovery_policy_ref ?? null, mark };
      return admittedRows(rows, about, { event: 'Marked', at, deadlineAt: null, of });
    }),
  CheckpointRolledBack: (body, state, { decidedAt: at, seq }) =>
    foldEach(state, rolledBackIn(body), ({ commit_id: mutation_id, agent_id, subject_ref, ...about }, rows, member) => {
      const mark = markBy(about, { seq, member, at, has_effect: false, subject_ref });
      // The bundle whose gate let it through; an effect stands under the recovery policy of its contract.
      const policy = commitIn(rows, about.run_id, mutation_id)?.checkpoint.gate?.bundle ?? null;
      const of = { agent_id, policy, mark };
      return admittedRows(rows, { ...about, mutation_id }, { event: 'Marked', at, deadlineAt: null, of });
    }),
  TriggerUnmatched: (about, state, { decidedAt: at }) => {
    const of = { agent_id: null, policy: null, mark: null };
    return admittedRows(state, about, { event: 'Opened', at, deadlineAt: about.deadline_at, of });
  },
  TriggerHeld: ({ reason, detail, cause, ...about }, state, { decidedAt: at }) => {
    const standing = rollbackIn(state, about);
    const { tenant, run_id, mutation_id } = about;
    // What is held on for something else keeps the deadline it had.
    const kept =
      standing?.phase === 'held'
        ? { owner: standing.owner, deadline_at: standing.deadline_at, opened_at: standing.opened_at }
        : { opened_at: at };
    return [
      rollbackPut({
        ...UNTOUCHED,
        ...about,
        phase: phaseAfter(standing, 'Held', 'held'),
        held: { reason, detail, cause },
        ...(standing === undefined ? {} : alsoWithout(standing, about.evidence)),
        beyond: standing?.beyond ?? null,
        ...passedOf(standing),
        reviewed: standing?.reviewed ?? null,
        ...kept,
        updated_at: at,
      }),
      ...unlisted(state, standing, cause, at),
      heldPut({ tenant, run_id, mutation_id, cause, has_more: false, held_at: at }, null),
    ];
  },
  TriggerRedundant: (about, state, { decidedAt: at }) => {
    const standing = rollbackIn(state, about);
    const also = standing === undefined ? null : alsoSaid(standing, about.evidence);
    return standing === undefined || also === null ? [] : [rollbackPut({ ...standing, also, updated_at: at })];
  },
  TriggerRejected: (about, state, { decidedAt: at }) => {
    const standing = existingRollback(state, about);
    return [moved(standing, 'Rejected', at, { held: null, deadline_at: null }), ...unlisted(state, standing, null, at)];
  },
  CommitBeyondBound: ({ evidence, ...about }, state) => {
    const standing = rollbackIn(state, about);
    // Where there is none, the item that follows makes one.
    if (standing === undefined) return [];
    return [rewritten(state, { ...standing, ...passedWith(standing, evidence) })];
  },
  RollbackOutOfBand: ({ evidence, committed_at, owner, deadline_at, ...about }, state, { decidedAt: at }) => {
    const standing = rollbackIn(state, about);
    const beyond = { evidence, committed_at };
    const passed = passedWith(standing ?? {}, evidence);
    const phase = phaseAfter(standing, 'Beyond', 'beyond');
    // What is held waits for its own word first; the fall is told when a person has said no. Nobody has reviewed this one.
    if (standing !== undefined && phase === 'held')
      return [rollbackPut({ ...standing, beyond, reviewed: null, ...passed, updated_at: at })];
    return [
      rollbackPut({
        ...UNTOUCHED,
        ...about,
        phase,
        evidence,
        command_id: null,
        beyond,
        ...passed,
        owner,
        deadline_at,
        opened_at: at,
        updated_at: at,
      }),
    ];
  },
} satisfies DraftFold;

/** Rows that what people say and time change, and what was remembered. */
export const ROLLBACK_FOLD = {
  SourceJudged: ({ confirmed, by, reason, ...about }, state, { decidedAt: at }) => {
    const judged = { verdict: confirmed ? ('confirmed' as const) : ('rejected' as const), by, reason, at };
    return [rewritten(state, { ...existingRollback(state, about), judged, updated_at: at })];
  },
  RollbackEscalated: ({ owner, deadline_at, ...about }, state, { decidedAt: at }) => {
    return [moved(existingRollback(state, about), 'Escalated', at, { owner, deadline_at })];
  },
  OutOfBandReviewed: ({ verdict, by, reason, ...about }, state, { decidedAt: at }) => {
    const reviewed = { verdict, by, reason, at };
    return [moved(existingRollback(state, about), 'Reviewed', at, { reviewed, deadline_at: null })];
  },
  MutationRecorded: ({ mutation_id, execution: { tenant, run_id }, handle_ref }, state, { decidedAt }) => {
    const claim = claimAfter({ handle_ref }, mutationIn(state, run_id, mutation_id));
    // Until the answer its deadline stands: a timer that finds nothing to do is spent.
    return isHandleAsked({ claim }) ? [] : woken(state, { tenant, run_id, mutation_id }, decidedAt);
  },
  HandleJudged: (about, state, { decidedAt }) => woken(state, about, decidedAt),
  CheckpointRecorded: ({ tenant, run_id, commit_id: mutation_id }, state, { decidedAt }) =>
    woken(state, { tenant, run_id, mutation_id }, decidedAt),
  UndoListed: ({ unknown_ids, mutation_ids, is_last, ...about }, state, { decidedAt: at }) => {
    const standing = undoIn(state, about.run_id, about.undo_id);
    const opened_at = standing?.opened_at ?? at;
    const undo: UndoDoc = {
      ...about,
      recovery_id: recoveryIdOf(about.tenant, about.run_id),
      phase: undoPhaseAfter(standing?.phase ?? 'opened', is_last ? 'Listed' : 'PartListed'),
      mutation_ids: [...(standing?.mutation_ids ?? []), ...mutation_ids],
      unknown_ids,
      owner: OWNER_OF_MARKS,
      deadline_at: is_last ? null : at + MARK_WITHIN_MS,
      opened_at,
      updated_at: at,
    };
    return [undoPut(undo, is_last ? null : at)];
  },
} satisfies Fold;

/** What is not said of a rollback yet. */
const UNTOUCHED = {
  held: null,
  confirmed_by: null,
  judged: null,
  bound_at: null,
  beyond: null,
  reviewed: null,
  agent_id: null,
  policy: null,
  mark: null,
} as const;

/** What an admitted trigger becomes. */
interface Becoming {
  readonly event: Extract<RollbackEvent, 'Marked' | 'Opened'>;
  readonly at: number;
  /** When a person is asked; null for one that is marked. */
  readonly deadlineAt: number | null;
  readonly of: Pick<RollbackDoc, 'agent_id' | 'policy' | 'mark'>;
}

/** Rows of an admitted trigger: the rollback, the list it leaves, what it counts toward. */
export function admittedRows(
  state: StateView,
  about: Admitted,
  { event, at, deadlineAt, of }: Becoming,
): readonly Change[] {
  const standing = rollbackIn(state, about);
  const { rollback_id, tenant, run_id, mutation_id, evidence, admission } = about;
  const rollback: RollbackDoc = {
    ...UNTOUCHED,
    rollback_id,
    tenant,
    run_id,
    mutation_id,
    evidence,
    phase: phaseAfter(standing, event, event === 'Marked' ? 'marked' : 'opened'),
    command_id: admission.command_id,
    confirmed_by: admission.confirmed_by,
    judged: standing?.phase === 'opened' || standing?.phase === 'escalated' ? standing.judged : null,
    bound_at: evidence.root?.bound_at ?? null,
    beyond: standing?.beyond ?? null,
    ...passedOf(standing),
    reviewed: standing?.reviewed ?? null,
    ...of,
    owner: OWNER_OF_MARKS,
    deadline_at: deadlineAt,
    opened_at: admission.triggered_at,
    updated_at: at,
  };
  const isDue = event === 'Opened' && canBeMarked(state, about);
  return [
    isDue ? put(rollback, at) : rollbackPut(rollback),
    ...unlisted(state, standing, null, at),
    ...countAdmitted(state, about, at),
  ];
}

function markBy(
  { evidence, consumers }: Pick<Fallen, 'evidence' | 'consumers'>,
  mark: Pick<RollbackMark, 'seq' | 'member' | 'at' | 'has_effect' | 'subject_ref'>,
): RollbackMark {
  const triggered_at = Math.min(evidence.stated_at, mark.at);
  return { ...mark, triggered_at, consumers: consumers.map(({ consumer }) => consumer) };
}

function passedOf(standing: RollbackDoc | undefined): Pick<RollbackDoc, 'passed'> {
  return standing?.passed === undefined ? {} : { passed: standing.passed };
}

function phaseAfter(standing: RollbackDoc | undefined, event: RollbackEvent, first: RollbackPhase): RollbackPhase {
  return standing === undefined ? first : rollbackPhaseAfter(standing.phase, event);
}

function moved(standing: RollbackDoc, event: RollbackEvent, at: number, changes: Partial<RollbackDoc>): Change {
  return rollbackPut({ ...standing, phase: rollbackPhaseAfter(standing.phase, event), ...changes, updated_at: at });
}

/** What was remembered fires once its commit can be marked; until then its deadline stands. */
function woken(state: StateView, about: About, at: number): readonly Change[] {
  const standing = rollbackIn(state, about);
  return standing !== undefined && isRemembered(standing) ? [put(standing, at)] : [];
}

/** Whether a commit is on record that can be marked: not while it is asked whose its handle is. */
export function canBeMarked(state: StateView, { tenant, run_id, mutation_id }: About): boolean {
  const mutation = mutationIn(state, run_id, mutation_id);
  return isRecorded(mutation)
    ? mutation.tenant === tenant && !isHandleAsked(mutation)
    : commitIn(state, run_id, mutation_id)?.tenant === tenant;
}

type About = Pick<RollbackDoc, 'tenant' | 'run_id' | 'mutation_id'>;

/** The rollback of a commit: by tenant too, so that naming somebody else's commit takes nothing from its owner. */
export function rollbackIn(state: StateView, { tenant, run_id, mutation_id }: About): RollbackDoc | undefined {
  // Rows of this kind are written by put alone.
  return state.get('rollback', run_id, rollbackKey(tenant, mutation_id)) as RollbackDoc | undefined;
}

/** The rollback of a commit that is marked; where the tenant has none, somebody else's of that name. */
export function markedIn(state: StateView, about: About): RollbackDoc | undefined {
  const own = rollbackIn(state, about);
  if (own?.mark !== undefined && own.mark !== null) return own;
  const all = state.all('rollback', about.run_id) as readonly RollbackDoc[]; // put alone writes rows of this kind
  return all.find(({ mutation_id, mark }) => mutation_id === about.mutation_id && mark !== null);
}

/** The same, where a record says that it stands. Errors: InvariantViolation when it does not. */
export function existingRollback(state: StateView, about: About): RollbackDoc {
  const standing = rollbackIn(state, about);
  if (standing === undefined) throw new InvariantViolation('rollback-unknown', about.mutation_id);
  return standing;
}

/** An undo of a run. */
export function undoIn(state: StateView, runId: string, undoId: string): UndoDoc | undefined {
  return state.get('undo', runId, undoId) as UndoDoc | undefined; // undoPut alone writes rows of this kind
}

/** Its timer goes off when nobody recorded the commit, or nobody judged it; what a person was given stands in the list. */
function rollbackPut(rollback: RollbackDoc): Change {
  return put(rollback, isTimed(rollback) ? rollback.deadline_at : null);
}

/** What is said of it beside its way: what was remembered and can be marked still is, at once. */
function rewritten(state: StateView, rollback: RollbackDoc): Change {
  const isDue = isRemembered(rollback) && canBeMarked(state, rollback);
  return isDue ? put(rollback, rollback.opened_at) : rollbackPut(rollback);
}

function put(rollback: RollbackDoc, dueAt: number | null): Change {
  const { run_id: group, tenant, mutation_id } = rollback;
  return {
    op: 'put',
    row: { kind: 'rollback', group, key: rollbackKey(tenant, mutation_id), dueAt, doc: rollback },
  };
}

/** An undo goes on at once as long as there is more of it. */
function undoPut(undo: UndoDoc, dueAt: number | null): Change {
  return { op: 'put', row: { kind: 'undo', group: undo.run_id, key: undo.undo_id, dueAt, doc: undo } };
}
