import { withCommonKinds } from '@recourse/event-log';
import type { ServiceCore } from '@recourse/event-log';
import type { ProjectedLog, ProjectedView } from './outbound/postgres-schema.js';

/** The logs whose rows and heads live in the service's database: its own, and those derived from them. */
export function logsOf(
  cores: readonly ServiceCore[],
  views: Readonly<Record<string, readonly ProjectedView[]>> = {},
): readonly ProjectedLog[] {
  return cores.flatMap(({ log, kinds, edition, derived }) => [
    { log, kinds: withCommonKinds(kinds), views: views[log] ?? [], ...(edition === undefined ? {} : { edition }) },
    ...(derived ? [{ log: derived.topic, kinds: [] }] : []),
  ]);
}
