// HTTP edge of incidents: what people made of steps that need more than a decision.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { SEVERITY_VALUES } from '@recourse/messages';
import {
  FromCaller,
  Id,
  runText,
  listsController,
  oneQuery,
  Queried,
  readerOf,
  ReadRoute,
  Reads,
  render,
  SERVICE_CONTEXT,
} from '@recourse/service';
import type { Caller, Offers, Rendered, ServiceContext } from '@recourse/service';
import { z } from 'zod';
import { timelineOf } from '../reads/incident.query.js';
import type { TimelineEntry } from '../reads/incident.query.js';
import { wordsOfIncident } from '../reads/reader.rules.js';
import { RECOVERIES_LOG } from '../core.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import type { IncidentDoc } from '../rules/task/task.messages.js';

export const IncidentListsController = listsController<{ readonly incidents: IncidentDoc }>({
  tag: 'incidents',
  log: RECOVERIES_LOG,
  lists: {
    incidents: {
      kind: 'incident',
      summary: 'Incidents that are open, or ended.',
      where: {
        state: z.enum(['open', 'closed']).default('open'),
        severity: z.enum(SEVERITY_VALUES).optional(),
        run_id: runText.optional(),
      },
      columns: { state: 'phase', run_id: 'group_key' },
    },
  },
});

/** An incident with what happened, and what its reader may say. */
type IncidentShown = IncidentDoc & Offers & { readonly timeline: readonly TimelineEntry[] };

@ApiTags('incidents')
@ApiBearerAuth()
@Controller('v1/incidents')
export class IncidentsController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(SERVICE_CONTEXT) private readonly service: Pick<ServiceContext, 'access' | 'view'>,
  ) {}

  @ReadRoute(
    ':id',
    'One incident, with what happened in its order, and whether its reader may end it (`may`, `may_not`).',
    oneQuery,
  )
  async one(
    @FromCaller() caller: Caller,
    @Id('id') incident_id: string,
    @Queried(oneQuery) { tenant: named }: z.infer<typeof oneQuery>,
  ): Promise<Rendered<IncidentShown>> {
    const incidents = { log: RECOVERIES_LOG, kind: 'incident', where: { incident_id }, tenant: named };
    const found = await this.reads.find(caller, incidents);
    const incident = found.doc as IncidentDoc; // rows of this kind are incidents
    const { step_id, tenant } = incident;
    const { doc } = await this.reads.find(caller, { log: RECOVERIES_LOG, kind: 'step', where: { step_id }, tenant });
    const [shown = incident] = (await this.reads.shown(caller, [incident], incident.phase === 'open')).docs;
    const step = doc as StepDoc; // rows of that kind are steps
    const offers = wordsOfIncident(incident, step, await readerOf(this.service, caller));
    return render({ ...shown, timeline: timelineOf(incident, step), ...offers });
  }
}
