// Re-evaluation under a successor bundle as a part of the ledger's core: the registry's news and the job's timer in, what the
// successor refuses out. Its rows are in rows/reevaluation.rows.ts.
//
// Boundary: reads rows and views, and asks rules/commit/reevaluation.decisions.ts; holds no rule.
import { entryPlace, entryView, reviewEntry } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput, RowAddress, StateView, Views } from '@recourse/event-log';
import type { CheckpointRecorded, EntryRegistered } from '@recourse/messages';
import type { StandingBundle } from '../rules/commit/gate.decisions.js';
import {
  blocksLeft,
  continueReevaluation,
  jobIdOf,
  judgeAtRecording,
  openReevaluation,
} from '../rules/commit/reevaluation.decisions.js';
import type { OwnedBundle, Reevaluation, Turn, UnderBundle } from '../rules/commit/reevaluation.decisions.js';
import { readsState } from '../rules/commit/successor.decisions.js';
import type { Reviewing } from '../rules/rollback/rollback.messages.js';
import { bundleScope } from '../rules/identity.js';
import { blocksIn, jobOf, REEVALUATION_KIND } from '../rows/reevaluation.rows.js';
import { commitIn } from '../rows/commit.rows.js';
import { rollbackIn } from '../rows/rollback.rows.js';
import type { Finding } from '../rules/record.messages.js';
import { stateOfGate } from './kept-states.js';
import { fall } from './falls.part.js';
import type { FallPolicy } from './falls.part.js';

/** How far back a successor reaches. */
export interface Reevaluating {
  /** Milliseconds; null for all commits. */
  readonly boundMs: number | null;
}

/** A version of a bundle follows another. Where it opens no job the view has to have it: what is recorded from now on is judged by the version that is read there. */
export function onSuccessor(
  { state, views, now }: DecideContext,
  entry: Pick<EntryRegistered, 'kind' | 'tenant' | 'name' | 'version' | 'digest'>,
  at: Pick<RecordInput, 'partition' | 'seq'>,
  { boundMs }: Reevaluating,
): Decision {
  const group = bundleScope(entry.name);
  if (state.get(REEVALUATION_KIND, group, jobIdOf(entry.tenant, entry.name, entry.version)) !== undefined)
    return NOTHING;
  const opened = openReevaluation(entry, blocksIn(state, group), now, boundMs);
  if (opened !== null) return append(opened);
  if (views.view(entryView.name).position(at.partition) < at.seq) views.readToEnd();
  return NOTHING;
}

/** What the version that stands says against a commit that is being recorded under an earlier one. */
export function againstEarlierVersion(
  { state, views, now }: DecideContext,
  { tenant, run_id, commit_id, checkpoint }: Pick<CheckpointRecorded, 'tenant' | 'run_id' | 'commit_id' | 'checkpoint'>,
  policy: Reviewing,
): readonly Finding[] {
  const { gate } = checkpoint;
  if (gate === null) return [];
  const { bundle, bundle_version, inputs } = gate;
  // Reading a bundle costs more than recording a commit: most are of the version that stands.
  if (versionsOf(views.view(entryView.name), tenant, bundle).every(({ version }) => version <= bundle_version))
    return [];
  const standing = standingBundle(views.view(entryView.name), tenant, bundle);
  const job =
    standing === null
      ? undefined
      : state.get(REEVALUATION_KIND, bundleScope(bundle), jobIdOf(standing.tenant, bundle, standing.version));
  return judgeAtRecording(
    { tenant, run_id, commit_id, bundle, bundle_version, gate_inputs: inputs },
    standing,
    job === undefined ? undefined : jobOf(job),
    { stateOf: () => stateOfGate(state, checkpoint, null), rollbackOf: rollbackOfIn(state), now, policy },
  );
}

/** The rollback of a commit, where there is one. */
function rollbackOfIn(state: StateView): Turn['rollbackOf'] {
  return ({ tenant, run_id, commit_id }) => rollbackIn(state, { tenant, run_id, mutation_id: commit_id });
}

/** The version of a bundle that stands now; a tenant's own comes before that of all. */
export function standingBundle(
  entries: { readonly get: (key: string) => object | undefined },
  tenant: string,
  name: string,
): OwnedBundle | null {
  for (const { owner, version, body } of versionsOf(entries, tenant, name)) {
    const reviewed = reviewEntry('policy_bundle', body, owner);
    if (reviewed.ok) return { tenant: owner, version, body: reviewed.entry };
  }
  return null;
}

/** Entries of a bundle as the registry has them: the tenant's own, then that of all. */
function versionsOf(
  entries: { readonly get: (key: string) => object | undefined },
  tenant: string,
  name: string,
): readonly { readonly owner: string; readonly version: number; readonly body: string }[] {
  return [tenant, '*'].flatMap((owner) => {
    const found = entries.get(entryPlace('policy_bundle', owner, name)) as
      { readonly body: string; readonly version: number } | undefined; // entries of this view have both
    return found === undefined ? [] : [{ owner, version: found.version, body: found.body }];
  });
}

/** The next turn of a job. The version it applies is read from the registry's view, which may not have come to it yet. */
export function onReevaluationDue(
  context: DecideContext,
  { group, key }: Pick<RowAddress, 'group' | 'key'>,
  policy: FallPolicy & { readonly effectsMax: number },
): Decision {
  const { state, views, now } = context;
  const standing = state.get(REEVALUATION_KIND, group, key);
  if (standing === undefined || jobOf(standing).phase === 'closed') return NOTHING;
  const job = jobOf(standing);
  const bundle = versionOf(views, job);
  if (bundle === 'behind') views.readToEnd();
  const [block, ...more] = blocksLeft(job, blocksIn(state, group));
  const commits =
    block === undefined
      ? []
      : (state.list('under_bundle', bundleScope(job.bundle, block.block)) as readonly UnderBundle[]); // rows of this kind are written by recorded() alone
  const isOver = (tenant: string): boolean =>
    job.tenant === '*' ? entryAt(views, tenant, job.bundle) === undefined : tenant === job.tenant;
  const found = continueReevaluation(job, {
    bundle: bundle === 'behind' ? null : bundle,
    commits: commits.filter((one) => one.bundle === job.bundle),
    hasMoreBlocks: more.length > 0,
    isOver,
    stateOf: ({ run_id, commit_id }) => {
      const commit = commitIn(state, run_id, commit_id);
      return commit === undefined ? null : stateOfGate(state, commit.checkpoint, commit.recorded_seq);
    },
    rollbackOf: rollbackOfIn(state),
    now,
    effectsMax: turnMax(bundle, policy.effectsMax),
    policy,
  });
  return append(...fall(context, found, policy));
}

/** Commits of a turn whose states are restored: each may be megabytes, and a turn is decided in one go. */
const STATES_MAX = 20;

function turnMax(bundle: StandingBundle | 'behind' | null, effectsMax: number): number {
  return bundle !== null && bundle !== 'behind' && bundle.body.admission.some(readsState)
    ? Math.min(effectsMax, STATES_MAX)
    : effectsMax;
}

/** The version a job applies; null when another version stands by now, or none: that version's own job takes over. */
function versionOf(
  views: Views,
  { tenant, bundle, bundle_version: version }: Reevaluation,
): StandingBundle | 'behind' | null {
  const entry = entryAt(views, tenant, bundle);
  if (entry !== undefined && entry.version < version) return 'behind';
  const reviewed = entry?.version === version ? reviewEntry('policy_bundle', entry.body, tenant) : undefined;
  return reviewed?.ok === true ? { version, body: reviewed.entry } : null;
}

function entryAt(
  views: Views,
  tenant: string,
  bundle: string,
): { readonly body: string; readonly version: number } | undefined {
  return views.view(entryView.name).get(entryPlace('policy_bundle', tenant, bundle)) as
    { readonly body: string; readonly version: number } | undefined; // entries of this view have both
}
