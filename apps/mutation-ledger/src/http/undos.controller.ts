// HTTP edge of undo: somebody asks for what an agent did to be taken back, and reads what became of it.
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  Commands,
  FromCaller,
  Id,
  idText,
  runText,
  openApiSchema,
  pageQuery,
  parse,
  Queried,
  ReadRoute,
  Reads,
  reasonText,
  render,
  tenantText,
} from '@recourse/service';
import type { Caller, ListAnswer, Rendered } from '@recourse/service';
import { z } from 'zod';
import { undoReport } from '../reads/undo-report.query.js';
import type { UndoReport } from '../reads/undo-report.query.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { UNDO_IDS_MAX } from '../rules/undo/undo.decider.js';
import { UNDO_PHASES } from '../rules/undo/undo.transitions.js';
import type { UndoDoc } from '../rules/undo/undo.messages.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

const undo = z.strictObject({
  run_id: runText,
  mutation_ids: z.array(idText).max(UNDO_IDS_MAX).default([]),
  reason: reasonText,
  tenant: tenantText.optional(),
});
const listQuery = z.strictObject({ ...pageQuery, run_id: runText.optional(), phase: z.enum(UNDO_PHASES).optional() });
const oneQuery = z.strictObject({ tenant: pageQuery.tenant });
/** Mutations that a report, or the undos of one page, look at. */
const MUTATIONS_MAX = 100_000;

/** An undo with its outcome; null where the page has too many effects to count. */
type UndoListed = Rendered<UndoDoc> & { readonly outcome: UndoReport['outcome'] | null };
/** What became of an undo, who asked for it, and who has it until when. */
type UndoShown = UndoReport &
  Pick<UndoDoc, 'phase' | 'asked_ids' | 'begun_by' | 'opened_at' | 'owner' | 'deadline_at'> & {
    readonly asked_by: string;
  };

@ApiTags('undos')
@ApiBearerAuth()
@Controller('v1/undos')
export class UndosController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Post()
  @HttpCode(201)
  @ApiOperation({
    summary:
      'Asks for a run, or some of its mutations, to be undone. Each becomes a governed recovery: last first, with the approvals its contract asks for.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(undo) })
  open(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const { tenant, ...body } = parse(undo, input);
    return this.commands.submit(caller, {
      type: 'recourse.mutations.UndoRun',
      key: body.run_id,
      tenant,
      body,
      build: (envelope) => ({ envelope, ...body }),
    });
  }

  @ReadRoute(
    '',
    'Undos that were asked for, or that a failed step of the run began (`begun_by`), each with its outcome; null where the page has too many effects to count.',
    listQuery,
  )
  async list(
    @FromCaller() caller: Caller,
    @Queried(listQuery) { run_id, phase, ...page }: z.infer<typeof listQuery>,
  ): Promise<ListAnswer<UndoListed>> {
    const query = { log: MUTATIONS_LOG, kind: 'undo', where: { group_key: run_id, phase }, ...page };
    const { items: undos, next_cursor } = await this.reads.list<UndoDoc>(caller, query);
    const runs = [...new Set(undos.map(({ run_id: run }) => run))];
    const mutations = runs.length === 0 ? [] : await this.mutationsOf(caller, runs, page.tenant);
    const isWhole = mutations.length < MUTATIONS_MAX;
    return {
      items: undos.map((one) => ({ ...one, outcome: isWhole ? undoReport(one, mutations).outcome : null })),
      next_cursor,
    };
  }

  @ReadRoute(
    ':id',
    'What became of an undo: each effect undone clean, undone with residue, not undone with its reason, or still open; what is open, or left to a person, says what it waits for. The whole is undone only if every one is.',
    oneQuery,
  )
  async one(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<Rendered<UndoShown>> {
    const { doc } = await this.reads.find(caller, {
      log: MUTATIONS_LOG,
      kind: 'undo',
      where: { undo_id: id },
      tenant,
    });
    const asked = doc as UndoDoc; // rows of this kind are undos
    const mutations = await this.mutationsOf(caller, [asked.run_id], tenant);
    const { phase, asked_ids, begun_by, opened_at, owner, deadline_at } = asked;
    return render({
      ...undoReport(asked, mutations),
      phase,
      asked_ids,
      begun_by,
      asked_by: asked.evidence.source,
      opened_at,
      owner,
      deadline_at,
    });
  }

  private async mutationsOf(
    caller: Caller,
    runs: readonly string[],
    tenant: string | undefined,
  ): Promise<readonly Mutation[]> {
    const query = { log: MUTATIONS_LOG, kind: 'mutation', where: { group_key: runs }, tenant };
    return (await this.reads.every(caller, query, MUTATIONS_MAX)) as readonly Mutation[]; // rows of that kind are mutations
  }
}
