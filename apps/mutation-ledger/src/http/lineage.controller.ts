// HTTP edge of lineage: the graph around a commit, what would fall with it, and whether its fall has settled.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  EdgeRefusal,
  FromCaller,
  Id,
  idText,
  openApiSchema,
  pageQuery,
  Queried,
  ReadRoute,
  SERVICE_CONTEXT,
  tenantOfRead,
  runText,
} from '@recourse/service';
import type { Caller, ServiceContext } from '@recourse/service';
import { z } from 'zod';
import { fallenView } from '../core.js';
import { lineageBoxes } from '../rules/lineage-view/boxes.decisions.js';
import { lineageView } from '../rules/lineage-view/graph.decisions.js';
import { standsRef } from '../rules/mutation/lineage.decider.js';
import type { Verdict } from '../rules/mutation/mutation.messages.js';
import type { AnnouncedOf, LineageBoxes, LineageView, Named } from '../rules/lineage-view/lineage.messages.js';
import { lineagePreview } from '../rules/lineage-view/preview.decisions.js';
import type { LineagePreview } from '../rules/lineage-view/preview.decisions.js';
import { settledOf } from '../rules/lineage-view/settled.decisions.js';
import type { Settled } from '../rules/lineage-view/settled.decisions.js';
import { verdictScope } from '../rules/identity.js';
import { hearersNow } from '../reads/hearers.view.js';
import { LedgerQueries } from '../reads/ledger-queries.js';
import { LineageQueries } from '../reads/lineage-queries.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

/** Commits that one picture shows: more is read in numbers, by the preview. */
const NODES_MAX = 2_000;
/** Commits that one picture counts, run by run. */
const COUNTED_MAX = 50_000;
/** Runs that are opened in one picture. */
const OPEN_MAX = 20;
const FIND_MAX = 200;
/** Commits that are added up or judged at once. */
const CLOSURE_MAX = 250_000;
const oneQuery = z.strictObject({ tenant: pageQuery.tenant });
const graphQuery = z.strictObject({
  tenant: pageQuery.tenant,
  rollback: idText.optional().describe('Only what this rollback reached.'),
});
const boxesQuery = z.strictObject({
  tenant: pageQuery.tenant,
  open: z
    .preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(runText).max(OPEN_MAX))
    .optional()
    .meta({
      description: `Runs whose commits are boxes of their own; at most ${OPEN_MAX}.`,
      ...openApiSchema(z.array(runText).max(OPEN_MAX)), // zod cannot say what a preprocess takes
    }),
  find: z
    .string()
    .max(FIND_MAX)
    .optional()
    .describe('Part of an id, run, agent, label or subject; boxes with it come first.'),
});

/** What the edge is told of the ledger's policy. */
export class LineagePolicy {
  /** How far back a rollback reaches, milliseconds; null without a bound. */
  constructor(readonly boundMs: number | null) {}
}

@ApiTags('lineage')
@ApiBearerAuth()
@Controller('v1/lineage')
export class LineageController {
  constructor(
    @Inject(LineageQueries) private readonly lineage: LineageQueries,
    @Inject(LedgerQueries) private readonly ledger: LedgerQueries,
    @Inject(SERVICE_CONTEXT) private readonly service: ServiceContext,
    @Inject(LineagePolicy) private readonly policy: LineagePolicy,
  ) {}

  @ReadRoute(
    ':commit',
    'The graph around a commit or mutation: what rests on it and what it rests on, what fell, was reattached or is beyond the bound, who was told and who has not answered.',
    graphQuery,
  )
  async graph(
    @FromCaller() caller: Caller,
    @Id('commit') commit: string,
    @Queried(graphQuery) { tenant, rollback }: z.infer<typeof graphQuery>,
  ): Promise<LineageView> {
    const from = await this.named(caller, commit, tenant);
    const { commits: reached, truncated } = await this.lineage.around(from, NODES_MAX);
    const rows = await this.lineage.surroundings(
      from.tenant,
      reached.map(({ id }) => id),
    );
    return lineageView({
      commit: from.id,
      rollback: rollback ?? null,
      reached,
      truncated,
      ...rows,
      announcedOf: await this.announcements(),
    });
  }

  @ReadRoute(
    ':commit/boxes',
    'The graph around a commit or mutation by run: a box for each run with what became of its commits, one for each commit of a run that is opened, and what leads from box to box.',
    boxesQuery,
  )
  async boxes(
    @FromCaller() caller: Caller,
    @Id('commit') commit: string,
    @Queried(boxesQuery) { tenant, open, find = '' }: z.infer<typeof boxesQuery>,
  ): Promise<LineageBoxes> {
    const from = await this.named(caller, commit, tenant);
    const { commits: reached, truncated } = await this.lineage.around(from, COUNTED_MAX);
    return lineageBoxes({
      commit: from,
      reached,
      truncated,
      ...(await this.lineage.placed(from.tenant, reached)),
      announcedOf: await this.announcements(),
      open: new Set(open),
      find,
    });
  }

  @ReadRoute(
    ':commit/preview',
    'What a rollback of the commit would reach, over all partitions: commits, money by currency, subjects, consumers, and what is beyond the bound. Nothing is done.',
    oneQuery,
  )
  async preview(
    @FromCaller() caller: Caller,
    @Id('commit') commit: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<LineagePreview> {
    const from = await this.named(caller, commit, tenant);
    const { boundMs } = this.policy;
    const now = await this.ledger.now();
    const closure = await this.lineage.closure([from], CLOSURE_MAX);
    return lineagePreview({
      commit: from.id,
      ...closure,
      boundAt: boundMs === null ? null : now - boundMs,
      hearersOf: await hearersNow(this.service, closure.reached),
    });
  }

  @ReadRoute(
    ':commit/settled',
    'Whether the fall of a commit has been taken into account by every partition, computed from cursors and marks; and if not, what is missing.',
    oneQuery,
  )
  async settled(
    @FromCaller() caller: Caller,
    @Id('commit') commit: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<Settled> {
    const from = await this.named(caller, commit, tenant);
    // Cursors first: rows that are read later are at least as new, so what they show unmarked is not done.
    const [cursors, partitions] = [
      await this.lineage.cursors(fallenView.topic),
      await this.service.partitionCount(MUTATIONS_LOG),
    ];
    const { reached, reliances, truncated } = await this.lineage.closure([from], CLOSURE_MAX);
    const rollbacks = new Map(
      reached.map(({ run_id, id, rollback_id }) => [`${run_id}\u0000${id}`, rollback_id] as const),
    );
    return settledOf({
      commit: from,
      rollbackOf: ({ run_id, id }) => rollbacks.get(`${run_id}\u0000${id}`) ?? null,
      reliances,
      announcedOf: await this.announcements(),
      cursors,
      partitions,
      truncated,
    });
  }

  /** The commit an id names, for this caller. Errors: EdgeRefusal(NOT_FOUND, PROJECTION_BEHIND, TENANT_FOREIGN). */
  private async named({ principal }: Caller, id: string, asked: string | undefined): Promise<Named> {
    const tenant = tenantOfRead(principal, asked);
    const found = await this.lineage.commit(id, tenant);
    if (found !== null) return found;
    // Nobody says that there is nothing while rows are behind their log.
    const isReached = await this.service.projection.isReached(MUTATIONS_LOG);
    const again = await this.lineage.commit(id, tenant);
    if (again !== null) return again;
    throw isReached
      ? new EdgeRefusal('NOT_FOUND', 'no commit or mutation under this id')
      : new EdgeRefusal('PROJECTION_BEHIND', `rows of ${MUTATIONS_LOG} are behind`);
  }

  private async announcements(): Promise<AnnouncedOf> {
    const view = (await this.service.view?.(fallenView.name)) ?? null;
    if (view === null) return () => null;
    return ({ tenant, run_id, id }) => {
      const verdict = view.get(verdictScope(tenant, standsRef(id), run_id)) as Verdict | undefined; // entries of this view are verdicts
      if (verdict === undefined || verdict.evidence === null) return null;
      const { position: seq, root } = verdict.evidence;
      return {
        partition: view.partitionOf(run_id),
        seq,
        is_beyond: verdict.is_beyond === true,
        root_rollback_id: root?.rollback_id ?? null,
      };
    };
  }
}
