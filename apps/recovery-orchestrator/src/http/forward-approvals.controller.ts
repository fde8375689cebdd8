// HTTP edge of forward approvals: an agent's guard asks, polls and uses; people look and decide.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  FromCaller,
  Id,
  runText,
  listsController,
  oneQuery,
  Queried,
  ReadRoute,
  Reads,
  render,
} from '@recourse/service';
import type { Caller } from '@recourse/service';
import { z } from 'zod';
import { forwardItem } from '../reads/forward-item.query.js';
import { FORWARD_KIND } from '../rows/forward.rows.js';
import { RECOVERIES_LOG } from '../core.js';
import { FORWARD_PHASES } from '../rules/forward/forward.messages.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';

export const ForwardListsController = listsController({
  tag: 'forward approvals',
  log: RECOVERIES_LOG,
  lists: {
    'forward-approvals': {
      kind: FORWARD_KIND,
      summary: 'Questions before effects: those that wait for a person, or those in one phase.',
      where: {
        state: z
          .enum(['open', ...FORWARD_PHASES])
          .default('open')
          .transform((state) => (state === 'open' ? 'awaiting' : state)),
        run_id: runText.optional(),
      },
      columns: { state: 'phase' },
    },
  },
});

@ApiTags('forward approvals')
@ApiBearerAuth()
@Controller('v1/forward-approvals')
export class ForwardApprovalsController {
  constructor(@Inject(Reads) private readonly reads: Reads) {}

  @ReadRoute(
    ':id',
    'One question with everything an approver needs, and its `status`: pending, approved, denied, used or expired.',
    oneQuery,
  )
  async one(
    @FromCaller() caller: Caller,
    @Id('id') approval_id: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<unknown> {
    const where = { approval_id };
    const { doc } = await this.reads.find(caller, { log: RECOVERIES_LOG, kind: FORWARD_KIND, where, tenant });
    // Lengths of lists and short codes on top; the row beneath them.
    const { docs } = await this.reads.shown(caller, [doc], doc['phase'] === 'awaiting');
    // Rows of this kind are written by the forward part alone.
    return forwardItem(doc as ForwardDoc, render(docs[0]) as object, caller.principal.subject);
  }
}
