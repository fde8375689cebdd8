// What was told of a run is on record before anybody is answered who acts on it.
import { EdgeRefusal } from '@recourse/service';
import type { ServiceContext } from '@recourse/service';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

/** Wire on which intents, outcomes and commits of a run are told. */
const EXECUTIONS_WIRE = 'recourse.tool-executions';

/** Waits until what was told of a run is on record: whoever calls again, or goes on from an earlier step, decides by it. Errors: EdgeRefusal(PROJECTION_BEHIND). */
export async function heardOf({ projection }: Pick<ServiceContext, 'projection'>, runId: string): Promise<void> {
  if (await projection.isReached(MUTATIONS_LOG, { wire: EXECUTIONS_WIRE, key: runId })) return;
  throw new EdgeRefusal('PROJECTION_BEHIND', `rows of ${MUTATIONS_LOG} are behind ${EXECUTIONS_WIRE}`);
}
