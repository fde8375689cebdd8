// Proofs of the records of a story: each stands in its log as the auditor signed it.
import type { Proof, SignedHead } from '@recourse/audit';
import type { Accepted } from '../audit/accepted.js';
import type { Place } from '../audit/dump-record.js';
import { proveAll } from '../audit/prove.js';
import type { ProvedLog } from '../audit/prove.js';
import { partitionName } from '../audit/report.js';
import { withScratch } from '../audit/scratch.js';
import { placeName } from './place-name.js';

/**
 * Proofs by the place of their record, each log read once; a record that no head holds yet has none.
 *
 * Errors: CliProblem(RECORD_UNKNOWN, LOG_NOT_AS_SIGNED), and those of opening a log.
 */
export async function proofsOf(
  records: readonly Accepted[],
  heads: readonly SignedHead[],
  logOf: (place: Place) => Promise<ProvedLog>,
): Promise<ReadonlyMap<string, Proof>> {
  const logs = Map.groupBy(records, ({ log, partition }) => partitionName(log, partition));
  return withScratch(async (scratch) => {
    const proofs = new Map<string, Proof>();
    for (const [first, ...others] of logs.values()) {
      if (first === undefined) continue;
      const seqs = [first, ...others].map(({ seq }) => seq);
      for (const proof of await proveAll(await logOf(first), seqs, { heads, scratch }))
        proofs.set(placeName({ ...first, seq: proof.record.seq }), proof);
    }
    return proofs;
  });
}
