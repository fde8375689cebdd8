// Re-evaluation under a successor bundle as a part of the ledger's core: the registry's news and the job's timer in, what the
// successor refuses out; and the rows a job finds earlier commits by.
//
// Boundary: reads rows and views, and asks domain/commit/reevaluation.decisions.ts; holds no rule.
//
// Rows: `under_bundle`, a gated commit, by bundle and block of places; `bundle_block`, which blocks there are, by bundle;
// `reevaluation`, a job, by bundle. Timer: a job until it is closed.
import { entryView, reviewEntry } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type {
  AcceptedRecord,
  Change,
  DecideContext,
  Decision,
  Doc,
  InputSpec,
  KindSpec,
  RecordInput,
  RowAddress,
  StateView,
  Views,
} from '@recourse/event-log';
import type {
  Checkpoint,
  CheckpointHardened,
  CheckpointRecorded,
  CheckpointRolledBack,
  EntryRegistered,
  ReevaluationClosed,
  ReevaluationContinued,
  ReevaluationOpened,
} from '@recourse/messages';
import type { StandingBundle } from '../domain/commit/gate.decisions.js';
import {
  blockOf,
  blocksLeft,
  continueReevaluation,
  jobIdOf,
  judgeAtRecording,
  openReevaluation,
  placeKey,
} from '../domain/commit/reevaluation.decisions.js';
import type { BundleBlock, OwnedBundle, Reevaluation, UnderBundle } from '../domain/commit/reevaluation.decisions.js';
import type { Body, MutationFact } from '../domain/mutation/mutation.messages.js';
import { bundleScope } from '../domain/scope.js';
import { commitIn } from './commit-rows.js';

export const REEVALUATION_KIND = 'reevaluation';

export const REEVALUATION_KINDS: readonly KindSpec[] = [
  { kind: 'under_bundle', table: 'under_bundle', columns: [] },
  { kind: 'bundle_block', table: 'bundle_block', columns: [] },
  {
    kind: REEVALUATION_KIND,
    table: 'reevaluation',
    columns: [
      ...(['job_id', 'tenant', 'bundle', 'phase'] as const).map((name) => ({
        name,
        type: 'text' as const,
        of: ({ doc }: { readonly doc: Doc }) => jobOf(doc)[name],
      })),
      ...(['bundle_version', 'opened_at', 'updated_at'] as const).map((name) => ({
        name,
        type: 'bigint' as const,
        of: ({ doc }: { readonly doc: Doc }) => jobOf(doc)[name],
      })),
    ],
    indexes: [['tenant', 'phase', 'opened_at'], ['job_id']],
  },
];

/** What the ledger hears of the registry: versions that follow another. */
export const SUCCESSORS: InputSpec = {
  topic: 'recourse.contracts',
  source: 'log',
  mode: 'broadcast',
  types: ['EntryRegistered'],
  concerns: ({ body }) => body['kind'] === 'policy_bundle' && Number(body['version']) > 1,
};

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
  {
    tenant,
    run_id,
    commit_id,
    checkpoint: { gate },
  }: Pick<CheckpointRecorded, 'tenant' | 'run_id' | 'commit_id' | 'checkpoint'>,
): readonly MutationFact[] {
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
  const refused = judgeAtRecording(
    { tenant, run_id, commit_id, bundle, bundle_version, gate_inputs: inputs },
    standing,
    job === undefined ? undefined : jobOf(job),
    now,
  );
  return refused === null ? [] : [refused];
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
    const found = entries.get(`entry/policy_bundle/${owner}/${name}`) as
      { readonly body: string; readonly version: number } | undefined; // entries of this view have both
    return found === undefined ? [] : [{ owner, version: found.version, body: found.body }];
  });
}

/** The next turn of a job. The version it applies is read from the registry's view, which may not have come to it yet. */
export function onReevaluationDue(
  { state, views, now }: DecideContext,
  { group, key }: Pick<RowAddress, 'group' | 'key'>,
  { effectsMax }: { readonly effectsMax: number },
): Decision {
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
  return append(
    ...continueReevaluation(job, {
      bundle: bundle === 'behind' ? null : bundle,
      commits: commits.filter((one) => one.bundle === job.bundle),
      hasMoreBlocks: more.length > 0,
      isOver,
      now,
      effectsMax,
    }),
  );
}

/** The version a job applies; null when another stands by now, or none: the job of that one goes on. */
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
  return views.view(entryView.name).get(`entry/policy_bundle/${tenant}/${bundle}`) as
    { readonly body: string; readonly version: number } | undefined; // entries of this view have both
}

// Rows ----------------------------------------------------------------------------------------------------------------

/** Rows an accepted record changes that say which commits a bundle let through, and how far a job has come. */
export function evolveReevaluations(state: StateView, record: AcceptedRecord): readonly Change[] {
  return EVOLVE[record.type]?.(state, record) ?? [];
}

// Each function reads the body of its own record type.
const EVOLVE: Readonly<Record<string, (state: StateView, record: AcceptedRecord) => readonly Change[]>> = {
  CheckpointRecorded: (_state, { body, seq, decidedAt }) =>
    underBundle(body as Body<CheckpointRecorded>, seq, decidedAt),
  CheckpointRolledBack: (state, { body }) => {
    const { run_id, commit_id } = body as Body<CheckpointRolledBack>;
    return addressesOf(state, run_id, commit_id).map((address): Change => ({ op: 'delete', address }));
  },
  CheckpointHardened: (state, { body }) => {
    const { run_id, commit_id } = body as Body<CheckpointHardened>;
    return addressesOf(state, run_id, commit_id).flatMap((address) => {
      const standing = state.get(address.kind, address.group, address.key) as UnderBundle | undefined; // rows of this kind are written by underBundle alone
      return standing === undefined
        ? []
        : [put(address, { ...standing, gate_inputs: null, is_gone: true } satisfies UnderBundle)];
    });
  },
  ReevaluationOpened: (_state, { body, decidedAt: at }) => {
    const opened = body as Body<ReevaluationOpened>;
    return [
      jobPut({
        ...opened,
        phase: 'running',
        through: '',
        looked_at: 0,
        refused: 0,
        unjudged: 0,
        opened_at: at,
        updated_at: at,
      }),
    ];
  },
  ReevaluationContinued: (state, { body, decidedAt }) =>
    moved(state, body as Body<ReevaluationContinued>, 'running', decidedAt),
  ReevaluationClosed: (state, { body, decidedAt }) =>
    moved(state, body as Body<ReevaluationClosed>, 'closed', decidedAt),
};

/** Where a later version of its bundle finds a commit; nothing for one that no bundle let through. */
export function underBundle(
  {
    tenant,
    run_id,
    commit_id,
    checkpoint: { gate },
  }: Pick<CheckpointRecorded, 'tenant' | 'run_id' | 'commit_id' | 'checkpoint'>,
  seq: number,
  decidedAt: number,
): readonly Change[] {
  if (gate === null) return [];
  const { bundle, bundle_version, inputs } = gate;
  const commit: UnderBundle = {
    tenant,
    run_id,
    commit_id,
    bundle,
    bundle_version,
    recorded_seq: seq,
    recorded_at: decidedAt,
    gate_inputs: inputs,
    is_gone: false,
  };
  const block: BundleBlock = { bundle, block: blockOf(seq), last_seq: seq, recorded_at: decidedAt };
  return [
    put(placeOf(bundle, seq), commit),
    put({ kind: 'bundle_block', group: bundleScope(bundle), key: placeKey(block.block) }, block),
  ];
}

function addressesOf(state: StateView, runId: string, commitId: string): readonly RowAddress[] {
  const commit = commitIn(state, runId, commitId);
  const gate = commit?.checkpoint.gate ?? null;
  return commit === undefined || gate === null ? [] : [placeOf(gate.bundle, commit.recorded_seq)];
}

function moved(
  state: StateView,
  { job_id, bundle, through, looked_at, refused, unjudged }: Body<ReevaluationContinued>,
  phase: Reevaluation['phase'],
  at: number,
): readonly Change[] {
  const standing = state.get(REEVALUATION_KIND, bundleScope(bundle), job_id);
  return standing === undefined
    ? []
    : [jobPut({ ...jobOf(standing), phase, through, looked_at, refused, unjudged, updated_at: at })];
}

/** Its timer goes off at once as long as it runs. */
function jobPut(job: Reevaluation): Change {
  return put(
    { kind: REEVALUATION_KIND, group: bundleScope(job.bundle), key: job.job_id },
    job,
    job.phase === 'running' ? job.updated_at : null,
  );
}

function placeOf(bundle: string, seq: number): RowAddress {
  return { kind: 'under_bundle', group: bundleScope(bundle, blockOf(seq)), key: placeKey(seq) };
}
function blocksIn(state: StateView, group: string): readonly BundleBlock[] {
  return state.list('bundle_block', group) as readonly BundleBlock[];
} // written by underBundle alone
function put(address: RowAddress, doc: Doc, dueAt: number | null = null): Change {
  return { op: 'put', row: { ...address, dueAt, doc } };
}
// Rows of this kind are written by jobPut alone.
function jobOf(doc: Doc): Reevaluation {
  return doc as Reevaluation;
}
