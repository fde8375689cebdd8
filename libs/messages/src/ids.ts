// Ids that more than one service derives: they follow from their cause (L1).
import { deriveId, keptIds } from '@recourse/kernel';

/** Id of the recovery of a run: every member of a decision asks for it. */
export const recoveryIdOf: (tenant: string, runId: string) => string = keptIds('rec');

/** Id of the rollback of a commit, which its trace is about. Its tenant is part of it: nobody has another tenant's by naming its commit. */
export function rollbackIdOf(tenant: string, mutationId: string): string {
  return deriveId('rb', tenant, mutationId);
}
