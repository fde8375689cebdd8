// Rows a job of re-evaluation finds earlier commits by, and the job itself: what accepted records make of them, and nothing else (L2).
//
// Rows: `under_bundle`, a gated commit, by bundle and block of places; `bundle_block`, which blocks there are, by bundle;
// `reevaluation`, a job, by bundle. Timer: a job until it is closed.
import type { Change, Doc, KindSpec, RowAddress, StateView } from '@recourse/event-log';
import { rolledBackIn } from '@recourse/messages';
import type { CheckpointRecorded, ReevaluationContinued } from '@recourse/messages';
import { blockOf, placeKey } from '../rules/commit/reevaluation.decisions.js';
import type { BundleBlock, Reevaluation, UnderBundle } from '../rules/commit/reevaluation.decisions.js';
import type { Body } from '../rules/record.messages.js';
import { bundleScope } from '../rules/identity.js';
import { commitIn } from './commit.rows.js';
import type { Fold } from './fold.js';

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

/** Rows that say which commits a bundle let through, and how far a job has come. */
export const REEVALUATION_FOLD = {
  CheckpointRecorded: (body, _state, { seq, decidedAt }) => underBundle(body, seq, decidedAt),
  CheckpointRolledBack: (body, state) =>
    rolledBackIn(body)
      .flatMap(({ run_id, commit_id }) => addressesOf(state, run_id, commit_id))
      .map((address): Change => ({ op: 'delete', address })),
  CheckpointHardened: ({ run_id, commit_id }, state) => {
    return addressesOf(state, run_id, commit_id).flatMap((address) => {
      const standing = state.get(address.kind, address.group, address.key) as UnderBundle | undefined; // rows of this kind are written by underBundle alone
      return standing === undefined
        ? []
        : [put(address, { ...standing, gate_inputs: null, is_gone: true } satisfies UnderBundle)];
    });
  },
  ReevaluationOpened: (opened, _state, { decidedAt: at }) => {
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
  ReevaluationContinued: (body, state, { decidedAt }) => moved(state, body, 'running', decidedAt),
  ReevaluationClosed: (body, state, { decidedAt }) => moved(state, body, 'closed', decidedAt),
} satisfies Fold;

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
/** Blocks of places a bundle has commits in. */
export function blocksIn(state: StateView, group: string): readonly BundleBlock[] {
  return state.list('bundle_block', group) as readonly BundleBlock[]; // rows of this kind are written by underBundle alone
}
function put(address: RowAddress, doc: Doc, dueAt: number | null = null): Change {
  return { op: 'put', row: { ...address, dueAt, doc } };
}
/** A job, from a row that jobPut alone writes. */
export function jobOf(doc: Doc): Reevaluation {
  return doc as Reevaluation;
}
