// Resume: the checkpoint before the offender, its state, and the evidence for the gate of what comes next.
import { RESUME_REMEDIES } from './resume.port.js';
import type { FallenCommit, ResumeFailureCode, ResumeSource, Resumed } from './resume.port.js';

/** Nobody can say now where the run goes on; it does not go on from what an agent happens to remember. */
export class ResumeUnavailable extends Error {
  override readonly name = 'ResumeUnavailable';
  constructor(
    readonly code: ResumeFailureCode,
    runId: string,
    cause: unknown,
  ) {
    super(`nobody can say where the run ${runId} goes on. ${RESUME_REMEDIES[code]}`, { cause });
  }
}

/** Where a run begins of which nothing is on record. */
export const FRESH_START: Resumed = {
  checkpoint: null,
  state: null,
  stateUnavailable: null,
  evidence: [],
  rolledBack: [],
};

/**
 * Where a run goes on: the newest checkpoint that nothing which fell is part of, its state, and why the others fell.
 *
 * Shape:  a run of which nothing is on record begins anew.
 * Errors: ResumeUnavailable when the record cannot be read; its code says whether to ask again or to look at the address.
 * Source: requirements E11, E12, E33.
 */
export async function resume(
  source: ResumeSource,
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
): Promise<Resumed> {
  const answer = await source.of(tenant, runId);
  switch (answer.kind) {
    case 'known':
      return { ...answer.resumed, evidence: oldestFirst(answer.resumed.evidence) };
    case 'unrecorded':
      return FRESH_START;
    case 'unavailable':
      throw new ResumeUnavailable(answer.code ?? 'RESUME_UNAVAILABLE', runId, answer.cause);
  }
}

/** Sources name what fell as they keep it: a ledger of before by the order of its rows. */
function oldestFirst(fallen: readonly FallenCommit[]): readonly FallenCommit[] {
  return [...fallen].sort((a, b) => a.evidence.stated_at - b.evidence.stated_at);
}
