// HTTP edge of forward approvals: an agent's guard asks, polls and uses; people look and decide.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  FromCaller,
  Id,
  runText,
  oneQuery,
  pageQuery,
  Queried,
  readerOf,
  ReadRoute,
  Reads,
  render,
  SERVICE_CONTEXT,
} from '@recourse/service';
import type { Caller, ListAnswer, Offers, Rendered, ServiceContext } from '@recourse/service';
import { z } from 'zod';
import { RecoveryQueries } from '../reads/recovery-queries.js';
import { forwardItem } from '../reads/forward-item.query.js';
import type { ForwardItem } from '../reads/forward-item.query.js';
import { wordsOfQuestion } from '../reads/reader.rules.js';
import { FORWARD_KIND } from '../rows/forward.rows.js';
import { RECOVERIES_LOG } from '../core.js';
import { FORWARD_PHASES } from '../rules/forward/forward.messages.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';
import { timedList } from './timed-list.js';

const listQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(['open', ...FORWARD_PHASES]).default('open'),
  run_id: runText.optional(),
});

/** A question with what its reader may say. */
type ForwardShown = ForwardItem & Offers;

@ApiTags('forward approvals')
@ApiBearerAuth()
@Controller('v1/forward-approvals')
export class ForwardApprovalsController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(RecoveryQueries) private readonly queries: RecoveryQueries,
    @Inject(SERVICE_CONTEXT) private readonly service: Pick<ServiceContext, 'access' | 'view'>,
  ) {}

  @ReadRoute(
    '',
    'Questions before effects, the first asked first: those that wait for a person, or those in one phase.',
    listQuery,
  )
  list(
    @FromCaller() caller: Caller,
    @Queried(listQuery) { state, run_id, ...page }: z.infer<typeof listQuery>,
  ): Promise<ListAnswer<Rendered<ForwardDoc>>> {
    const where = { phase: state === 'open' ? 'awaiting' : state, group_key: run_id };
    return timedList({ reads: this.reads, queries: this.queries }, caller, { kind: FORWARD_KIND, where, ...page });
  }

  @ReadRoute(
    ':id',
    'One question with everything an approver needs, its `status` (pending, approved, denied, used or expired), and what its reader may say (`may`, `may_not`).',
    oneQuery,
  )
  async one(
    @FromCaller() caller: Caller,
    @Id('id') approval_id: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<Rendered<ForwardShown>> {
    const where = { approval_id };
    const { doc } = await this.reads.find(caller, { log: RECOVERIES_LOG, kind: FORWARD_KIND, where, tenant });
    // Lengths of lists and short codes on top; the row beneath them.
    const question = doc as ForwardDoc; // rows of this kind are written by the forward part alone
    const [shown = question] = (await this.reads.shown(caller, [question], question.phase === 'awaiting')).docs;
    const reader = await readerOf(this.service, caller);
    return render({
      ...forwardItem(question, shown, reader.principal),
      ...wordsOfQuestion(question, { reader, now: Date.now() }),
    });
  }
}
