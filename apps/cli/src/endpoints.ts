// Endpoints of notices: few, and told all in one page.
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Session } from './session.js';

/** Who is told of what. Errors: those of the notifier's edge. */
export async function endpointsOf(session: Session): Promise<readonly Doc[]> {
  const { items } = await session.service('notifier').get('/v1/endpoints');
  return Array.isArray(items) ? items.map(docOf) : [];
}
