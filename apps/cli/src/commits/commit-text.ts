// Commits without outside effect as people read them: what was admitted, on what it rests, and what became of it. Pure.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { cellText, formatFields, formatTable, instant } from '../output/table.js';

/** One part in which the releases of two commits differ. */
export interface PartDiffers {
  readonly part: string;
  readonly from: string;
  readonly to: string;
}

/** The releases of two commits side by side; `differences` is null when one of them pins none. */
export interface CommitsCompared {
  readonly from: string;
  readonly to: string;
  readonly differences: readonly PartDiffers[] | null;
  /** Commits that pin no release. */
  readonly unpinned: readonly string[];
}

/** Where a commit stands, in one word. */
export function standingOf(commit: Doc): string {
  if (typeof commit['rollback_id'] === 'string') return 'rolled_back';
  const reattached = commit['reattached'];
  return Array.isArray(reattached) && reattached.length > 0 ? 'reattached' : 'stands';
}

/** Text of a commit. */
export function describeCommit(found: Doc): string {
  const checkpoint = docOf(found['checkpoint']);
  const [gate, state, release] = [docOf(checkpoint['gate']), docOf(checkpoint['state']), docOf(checkpoint['release'])];
  return formatFields([
    ['commit', found['commit_id']],
    ['tenant', found['tenant']],
    ['run', found['run_id']],
    ['agent', checkpoint['agent_id']],
    ['step', checkpoint['step_id']],
    ['produced by', checkpoint['produced_by']],
    ['on behalf of', checkpoint['initiator']],
    ['objective', checkpoint['objective']],
    ['subject', checkpoint['subject_ref']],
    ['parents', idsOf(found['parents'])],
    ['relies on', checkpoint['assumption_refs']],
    [
      'gate',
      gate['verdict'] === undefined
        ? 'none: nobody admitted it'
        : `${cellText(gate['verdict'])} by ${cellText(gate['bundle'])} version ${cellText(gate['bundle_version'])}`,
    ],
    ['bundle digest', gate['bundle_digest']],
    ...Object.entries(release).map(([part, pinned]) => [`release: ${part}`, pinned] as const),
    ['state', stateText(state, found)],
    ['committed', instant(checkpoint['committed_at'])],
    ['recorded', instant(found['recorded_at'])],
    ['stands', standingOf(found)],
    ['rollback', found['rollback_id']],
    ['rolled back', instant(found['rolled_back_at'])],
    ['resume at', docOf(found['resume'])['commit_id']],
    ['beyond the bound of', found['beyond']],
    ['record', found['recorded_hash']],
  ]);
}

/** Text of the difference of two releases. */
export function describeComparison({ from, to, differences, unpinned }: CommitsCompared): string {
  if (differences === null)
    return `no difference can be told: ${unpinned.join(' and ')} ${unpinned.length === 1 ? 'pins' : 'pin'} no release`;
  if (differences.length === 0) return `the same release: ${from} and ${to}`;
  return formatTable(
    [
      { title: 'PART', of: ({ part }: PartDiffers) => part },
      { title: 'FROM', of: (one: PartDiffers) => one.from },
      { title: 'TO', of: (one: PartDiffers) => one.to },
    ],
    differences,
  );
}

function stateText(state: Doc, found: Doc): string | null {
  if (state['kind'] === undefined) return 'none';
  const size = `${cellText(state['kind'])}, ${cellText(state['size_bytes'])} bytes`;
  const base = typeof state['base_id'] === 'string' ? ` on ${state['base_id']}` : '';
  return typeof found['hardened'] === 'string' ? `${size}${base}; given up (${found['hardened']})` : `${size}${base}`;
}

function idsOf(refs: unknown): readonly unknown[] | null {
  return Array.isArray(refs) ? refs.map((ref) => docOf(ref)['commit_id']) : null;
}
