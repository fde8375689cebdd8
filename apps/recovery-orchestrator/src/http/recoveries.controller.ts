// HTTP edge of the recovery orchestrator: recoveries, steps, and steps as reviews.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  FromCaller,
  Id,
  idText,
  runText,
  listsController,
  oneQuery,
  pageQuery,
  Queried,
  ReadRoute,
  readerOf,
  Reads,
  SERVICE_CONTEXT,
} from '@recourse/service';
import type { Caller, ListAnswer, Rendered, ServiceContext } from '@recourse/service';
import { contractOfOpen, contractView } from '@recourse/contract';
import { z } from 'zod';
import { FORWARD_KIND } from '../rows/forward.rows.js';
import { RECOVERIES_LOG } from '../core.js';
import { agreedBy } from '../rules/forward/forward.decider.js';
import { FORWARD_PHASES } from '../rules/forward/forward.messages.js';
import type { ForwardDoc, ForwardPhase } from '../rules/forward/forward.messages.js';
import { RecoveryQueries } from '../reads/recovery-queries.js';
import { reviewItem } from '../reads/review-item.query.js';
import type { ReviewItem, Seen } from '../reads/review-item.messages.js';
import { MARGIN_MS } from '../rules/policy.messages.js';
import { STEP_PHASES } from '../rules/step/step.messages.js';
import type { RecoveryDoc, StepDoc, StepPhase } from '../rules/step/step.messages.js';
import { timedList } from './timed-list.js';

/** Questions about one effect whose answers are shown with it: an effect is one action, and few are ever agreed to twice. */
const QUESTIONS_MAX = 10;
/** Questions that somebody has agreed to; those that time ended or somebody denied are as many as were asked. */
const AGREED: readonly ForwardPhase[] = ['approved', 'used'];

/** Steps that wait for a person; of an uncertain one the system finds out first. */
const PHASES_IN_REVIEW: readonly StepPhase[] = ['awaiting_approval', 'halted', 'manual', 'denied'];
/** States of each list: a step has none of a question, and a question none of a step. */
const STATES = { recovery: ['open', ...STEP_PHASES], forward: ['open', ...FORWARD_PHASES] } as const;
export const reviewQuery = z
  .strictObject({
    ...pageQuery,
    kind: z.enum(['recovery', 'forward']).default('recovery'),
    state: z
      .string()
      .default('open')
      .meta({
        enum: [...new Set(Object.values(STATES).flat())],
        description: `Of steps: ${STATES.recovery.join(', ')}; of questions: ${STATES.forward.join(', ')}.`,
      }),
    run_id: runText.optional(),
  })
  .superRefine(({ kind, state }, context) => {
    const values = STATES[kind];
    if (!values.some((one) => one === state))
      context.addIssue({ code: 'invalid_value', values: [...values], input: state, path: ['state'] });
  });
const ofRun = { run_id: runText.optional(), phase: idText.optional() };
/** Rows of a run are one group, which the primary key finds. */
const columns = { run_id: 'group_key' };

/** Whoever decides about such a step is shown its payloads. */
function asksPeople({ phase }: Readonly<Record<string, unknown>>): boolean {
  return PHASES_IN_REVIEW.some((waiting) => waiting === phase);
}

export const RecoveryListsController = listsController<{ readonly recoveries: RecoveryDoc; readonly steps: StepDoc }>({
  tag: 'recoveries',
  log: RECOVERIES_LOG,
  lists: {
    recoveries: {
      kind: 'recovery',
      summary: 'Recoveries, one per run.',
      where: { ...ofRun, recovery_id: idText.optional() },
      columns,
    },
    steps: {
      kind: 'step',
      summary: 'Steps of a run.',
      where: ofRun,
      columns,
      one: {
        column: 'step_id',
        summary: 'One step as it is stored: what happened, what is proposed, which facts are known, who has agreed.',
        asks: asksPeople,
      },
    },
  },
});

/** Where people look at a trace, as a dependency; null where nobody said. */
export const TRACE_URL = Symbol('trace url');

@ApiTags('recoveries')
@ApiBearerAuth()
@Controller('v1')
export class RecoveriesController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(RecoveryQueries) private readonly queries: RecoveryQueries,
    @Inject(TRACE_URL) private readonly traceUrl: string | null,
    @Inject(SERVICE_CONTEXT) private readonly service: Pick<ServiceContext, 'access' | 'view'>,
  ) {}

  @ReadRoute(
    'reviews',
    'What waits for a person, or is in one phase: steps of recoveries, the soonest deadline first, or with `kind=forward` questions before effects, the first asked first.',
    reviewQuery,
  )
  reviews(
    @FromCaller() caller: Caller,
    @Queried(reviewQuery) { kind, state, run_id, ...page }: z.infer<typeof reviewQuery>,
  ): Promise<ListAnswer<Rendered<StepDoc> | Rendered<ForwardDoc>>> {
    const isForward = kind === 'forward';
    const open = isForward ? 'awaiting' : PHASES_IN_REVIEW;
    return timedList({ reads: this.reads, queries: this.queries }, caller, {
      kind: isForward ? FORWARD_KIND : 'step',
      where: { phase: state === 'open' ? open : state, group_key: run_id },
      ...page,
    });
  }

  @ReadRoute(
    'reviews/:step_id',
    'One step as a person decides about it: facts then and now, what is proposed, what may be done. Long texts are folded, misleading characters escaped.',
    oneQuery,
  )
  async review(
    @FromCaller() caller: Caller,
    @Id('step_id') step_id: string,
    @Queried(oneQuery) { tenant: named }: z.infer<typeof oneQuery>,
  ): Promise<ReviewItem> {
    const steps = { log: RECOVERIES_LOG, kind: 'step', where: { step_id }, tenant: named };
    const { doc, partition } = await this.reads.find(caller, steps);
    const { mutation_id, tenant } = doc as StepDoc; // rows of this kind are steps
    const { docs } = await this.reads.shown(caller, [doc], asksPeople(doc));
    const questions = await this.reads.every(
      caller,
      { log: RECOVERIES_LOG, kind: FORWARD_KIND, where: { mutation_id, phase: AGREED }, tenant },
      QUESTIONS_MAX,
    );
    // Rows of these kinds are steps and questions; opened payloads keep their place.
    return reviewItem((docs[0] ?? doc) as StepDoc, {
      agreedBy: (questions as readonly ForwardDoc[]).flatMap(agreedBy),
      log: RECOVERIES_LOG,
      partition,
      now: Date.now(),
      marginMs: MARGIN_MS,
      ...(await this.judging(caller)),
      traceUrl: this.traceUrl,
    });
  }

  /** What a command of theirs would be judged by: contracts and charters as they stand, none before the service has read any. */
  private async judging(caller: Caller): Promise<Pick<Seen, 'reader' | 'ofOpen'>> {
    const contracts = (await this.service.view?.(contractView.name)) ?? null;
    return {
      ofOpen: (tenant, terms) =>
        contracts === null ? null : (contractOfOpen(contracts, tenant, terms)?.contract ?? null),
      reader: await readerOf(this.service, caller),
    };
  }
}
