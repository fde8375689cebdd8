// What an acknowledgement names of a consumer's own: its reader takes all of it, or it is not kept (L7).
//
// Boundary: pure. The limits are those of whoever reads.
import { Failure, WIRE_RECORD_BYTES_MAX } from '@recourse/kernel';
import type { CommitRef, Emission, RollbackAcknowledged } from '@recourse/messages';
import { bytesAtMost, refuseUnfit } from '../producer/fitting.js';
import { refuseSeconds } from '../producer/instants.js';

/** What an acknowledgement names at the most; the ledger takes no more. */
const LIST_MAX = 1_000;
/** What it says beside its lists, bytes. */
const FRAME_BYTES = 4_096;
const LIST_BYTES = (WIRE_RECORD_BYTES_MAX - FRAME_BYTES) / 2;

/** Errors: Failure(RECORD_UNFIT) for a name that no acknowledgement holds. */
export function refuseUnnamed(commits: readonly CommitRef[]): void {
  for (const { run_id, commit_id } of commits) {
    refuseNameless({ run_id, commit_id });
    refuseUnfit(run_id, { commit_id });
  }
}

/** Errors: Failure(RECORD_UNFIT, INSTANT_INVALID) for what no acknowledgement holds. */
export function refuseUntold({ kind, ref, emitted_at }: Emission): void {
  refuseNameless({ kind, ...(ref === null ? {} : { ref }) });
  refuseUnfit(kind, { kind, ref });
  refuseSeconds({ emitted_at });
}

function refuseNameless(names: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(names))
    if (typeof value !== 'string' || value === '')
      throw new Failure(
        'RECORD_UNFIT',
        `${name} has to be a text of 1 to 512 bytes; its acknowledgement would be refused`,
      );
}

/** The lists of an acknowledgement: of each as much as fits, from its beginning. */
export function listsOf({
  derived,
  emissions,
}: {
  readonly derived: readonly CommitRef[];
  readonly emissions: readonly Emission[];
}): Pick<RollbackAcknowledged, 'derived' | 'emissions'> {
  return { derived: fitting(derived), emissions: fitting(emissions) };
}

function fitting<T>(list: readonly T[]): readonly T[] {
  let left = LIST_BYTES;
  const end = list.findIndex((one) => (left -= bytesAtMost(one)) < 0);
  return list.slice(0, end === -1 ? LIST_MAX : Math.min(end, LIST_MAX));
}
