// HTTP edge of one question for a person, as they decide about it.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { lookAlikes } from '@recourse/kernel';
import {
  FromCaller,
  Id,
  oneQuery,
  Queried,
  readerOf,
  ReadRoute,
  Reads,
  render,
  SERVICE_CONTEXT,
} from '@recourse/service';
import type { Caller, Offers, Rendered, ServiceContext } from '@recourse/service';
import type { z } from 'zod';
import { BUDGETS_LOG } from '../core.js';
import { wordsOfEscalation } from '../reads/reader.rules.js';
import { ceilingOf } from '../rules/budget/bounds.decisions.js';
import type { Budget, Escalation, Proposal } from '../rules/budget/budget.messages.js';
import { standingAt } from '../rules/budget/ceiling.decider.js';
import { namedIn, questionDigest } from '../rules/budget/escalation.decider.js';

/** Ceilings of one scope: one of each unit and window. */
const CEILINGS_MAX = 500;

/** A question with what its reader may say. */
type EscalationShown = Escalation &
  Offers & {
    /** What a decision has to name. */
    readonly action_digest: string;
    /** Names that read alike, in groups. */
    readonly lookalikes: ReturnType<typeof lookAlikes>;
  };

@ApiTags('budgets')
@ApiBearerAuth()
@Controller('v1/escalations')
export class EscalationsController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(SERVICE_CONTEXT) private readonly service: Pick<ServiceContext, 'access' | 'view'>,
  ) {}

  @ReadRoute(
    ':id',
    'One question, with what the run is for, how the effect is compensated, and what its reader may say (`may`, `may_not`).',
    oneQuery,
  )
  async one(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<Rendered<EscalationShown>> {
    const { doc } = await this.reads.find(caller, {
      log: BUDGETS_LOG,
      kind: 'escalation',
      where: { group_key: id },
      tenant,
    });
    const escalation = doc as unknown as Escalation; // rows of this kind are questions
    const [shown = doc] = (await this.reads.shown(caller, [doc])).docs;
    const now = Date.now();
    const [reader, ceiling] = await Promise.all([
      readerOf(this.service, caller),
      this.ceilingOf(caller, escalation, now),
    ]);
    return render({
      ...(shown as unknown as Escalation), // payloads keep their places
      action_digest: questionDigest(escalation),
      lookalikes: lookAlikes([...namedIn(escalation), reader.principal]),
      ...wordsOfEscalation(escalation, { reader, now, ceilingOf: () => ceiling }),
    });
  }

  /** The ceiling that a proposal would raise, as it was set last; null of every other question, and where nobody did. */
  private async ceilingOf(caller: Caller, { proposal }: Escalation, now: number): Promise<number | null> {
    if (proposal === null) return null;
    const { scope, scope_id, tenant, currency, window, measure }: Proposal = proposal;
    const where = { scope, scope_id, currency, window };
    const rows = await this.reads.every(caller, { log: BUDGETS_LOG, kind: 'budget', where, tenant }, CEILINGS_MAX);
    const [budget] = rows as unknown as readonly Budget[]; // rows of this kind are ceilings
    return budget === undefined ? null : ceilingOf(standingAt(budget, now), measure);
  }
}
