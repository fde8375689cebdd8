// Ids that more than one service derives: they follow from their cause (L1).
import { deriveId } from '@recourse/kernel';

/** Id of the recovery of a run. */
export function recoveryIdOf(tenant: string, runId: string): string {
  return deriveId('rec', tenant, runId);
}

/** Id of the rollback of a commit, which its trace is about. Its tenant is part of it: nobody has another tenant's by naming its commit. */
export function rollbackIdOf(tenant: string, mutationId: string): string {
  return deriveId('rb', tenant, mutationId);
}
