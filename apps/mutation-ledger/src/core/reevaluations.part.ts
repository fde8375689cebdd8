// Re-evaluation under a successor bundle as a part of the ledger's core: the registry's news and the job's timer in, what the
// successor refuses out. Its rows are in rows/reevaluation.rows.ts.
//
// Boundary: reads rows and views, and asks rules/commit/reevaluation.decisions.ts; holds no rule.
import { bundleVersions, entryPlace, entryView, reviewEntry, tightened } from '@recourse/contract';
import type { ContractEntries } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput, RowAddress, StateView, Views } from '@recourse/event-log';
import type { CheckpointRecorded, EntryRegistered, Gate } from '@recourse/messages';
import type { StandingBundle } from '../rules/commit/gate.decisions.js';
import {
  blocksLeft,
  continueReevaluation,
  isBefore,
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

/** What the versions that stand say against a commit that is being recorded under earlier ones: that one refuses it, before what one cannot judge. */
export function againstEarlierVersion(
  { state, views, now }: DecideContext,
  { tenant, run_id, commit_id, checkpoint }: Pick<CheckpointRecorded, 'tenant' | 'run_id' | 'commit_id' | 'checkpoint'>,
  policy: Reviewing,
): readonly Finding[] {
  const { gate } = checkpoint;
  if (gate === null) return [];
  const { bundle, inputs } = gate;
  const entries = views.view(entryView.name);
  const owners = ownersOf(entries, { ...gate, tenant }, () => gate);
  const found = versionsOf(entries, tenant, bundle)
    .filter((one) => isBefore(gate, one, owners))
    .flatMap((one) => {
      const standing = readIn(one);
      if (standing === null) return [];
      const job = state.get(REEVALUATION_KIND, bundleScope(bundle), jobIdOf(one.owner, bundle, one.version));
      return judgeAtRecording(
        { tenant, run_id, commit_id, bundle, gate_inputs: inputs, owners },
        standing,
        job === undefined ? undefined : jobOf(job),
        { stateOf: () => stateOfGate(state, checkpoint, null), rollbackOf: rollbackOfIn(state), now, policy },
      );
    });
  const worst = found.find(({ type }) => type === 'Contradiction') ?? found[0];
  return worst === undefined ? [] : [worst];
}

/** Whose the version is that a gate names: by its digest where both have one of that number. */
function ownersOf(
  entries: ContractEntries,
  { tenant, bundle, bundle_version }: Pick<UnderBundle, 'tenant' | 'bundle' | 'bundle_version'>,
  gateOf: () => Gate | null,
): readonly string[] {
  const versions = bundleVersions(entries, tenant, bundle, bundle_version);
  const isOne = new Set(versions.map(({ digest }) => digest)).size < 2;
  const named = isOne ? undefined : gateOf()?.bundle_digest.toString('hex');
  return versions.filter(({ digest }) => isOne || digest === named).map(({ owner }) => owner);
}

/** The rollback of a commit, where there is one. */
function rollbackOfIn(state: StateView): Turn['rollbackOf'] {
  return ({ tenant, run_id, commit_id }) => rollbackIn(state, { tenant, run_id, mutation_id: commit_id });
}

/** What stands under a name now: a tenant's own with what that of all demands beside it, as its gate runs it; null where either cannot be read. */
export function standingBundle(entries: ContractEntries, tenant: string, name: string): StandingBundle | null {
  const [first, platform] = versionsOf(entries, tenant, name).map(readIn);
  if (first === undefined || first === null || platform === null) return null;
  return platform === undefined ? first : { ...first, body: tightened('policy_bundle', first.body, platform.body) };
}

/** Bundles by the entry they were read from: reading one costs more than judging by it. */
const readOnce = new WeakMap<object, OwnedBundle | null>();

function readIn({ owner, entry }: StandingVersion): OwnedBundle | null {
  const known = readOnce.get(entry);
  if (known !== undefined) return known;
  const reviewed = reviewEntry('policy_bundle', entry.body, owner);
  const read = reviewed.ok ? { tenant: owner, version: entry.version, body: reviewed.entry } : null;
  readOnce.set(entry, read);
  return read;
}

/** A version that stands, as the registry has it, and whose it is. */
interface StandingVersion {
  readonly owner: string;
  readonly version: number;
  readonly entry: { readonly body: string; readonly version: number };
}

/** Entries of a bundle as the registry has them: the tenant's own, then that of all. */
function versionsOf(entries: ContractEntries, tenant: string, name: string): readonly StandingVersion[] {
  return [tenant, '*'].flatMap((owner) => {
    const entry = entryAt(entries, owner, name);
    return entry === undefined ? [] : [{ owner, version: entry.version, entry }];
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
  const found = continueReevaluation(job, {
    bundle: bundle === 'behind' ? null : bundle,
    commits: commits.filter((one) => one.bundle === job.bundle),
    hasMoreBlocks: more.length > 0,
    ownersOf: (one) =>
      ownersOf(
        views.view(entryView.name),
        one,
        () => commitIn(state, one.run_id, one.commit_id)?.checkpoint.gate ?? null,
      ),
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
  const entry = entryAt(views.view(entryView.name), tenant, bundle);
  if (entry !== undefined && entry.version < version) return 'behind';
  const reviewed = entry?.version === version ? reviewEntry('policy_bundle', entry.body, tenant) : undefined;
  return reviewed?.ok === true ? { version, body: reviewed.entry } : null;
}

function entryAt(entries: ContractEntries, owner: string, bundle: string): StandingVersion['entry'] | undefined {
  return entries.get(entryPlace('policy_bundle', owner, bundle)) as StandingVersion['entry'] | undefined; // entries of this view have both
}
