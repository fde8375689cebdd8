// HTTP edge of the mutation ledger: reads, and the way to take back what is held; executions come by Kafka.
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import {
  Commands,
  FromCaller,
  idText,
  openApiSchema,
  pageQuery,
  parse,
  Reads,
  reasonText,
  render,
  tenantText,
} from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { EXECUTION_STATE_VALUES, RECOVERABILITY_STATE_VALUES } from '@recourse/messages';
import { z } from 'zod';
import { undoPreview } from '../reads/undo-preview.query.js';
import { effectStatusOf } from '../rules/effect/effect.decisions.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { LedgerQueries } from '../reads/ledger-queries.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

const ASSUMPTIONS_LOG = 'recourse.assumptions';
const listQuery = z.strictObject({
  ...pageQuery,
  run_id: idText.optional(),
  state: z.enum(RECOVERABILITY_STATE_VALUES).optional(),
  execution: z.enum(EXECUTION_STATE_VALUES).optional(),
  capability: idText.optional(),
  subject: idText.optional(),
});
const oneQuery = z.strictObject({ tenant: tenantText.optional() });
/** Mutations of one run that a preview looks at. */
const MUTATIONS_MAX = 100_000;
const previewQuery = z.strictObject({
  tenant: tenantText.optional(),
  mutation_id: z.union([idText.transform((one) => [one]), z.array(idText).max(200)]).default([]),
});
const settleBody = z.strictObject({
  settled_as: z.enum(['took_effect', 'not_done', 'accepted', 'repaired']),
  reason: reasonText,
});
const whyBody = z.strictObject({ reason: reasonText });
const assumptionQuery = z.strictObject({
  ...pageQuery,
  ref: idText.optional(),
  run_id: idText.optional(),
  disputed: z.enum(['true', 'false']).optional(),
});

@ApiTags('mutations')
@ApiBearerAuth()
@Controller('v1')
export class MutationsController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(LedgerQueries) private readonly queries: LedgerQueries,
  ) {}

  @Get('mutations')
  @ApiOperation({ summary: 'Recorded effects with their recoverability.' })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'state', required: false, enum: RECOVERABILITY_STATE_VALUES, description: 'Recoverability state.' })
  @ApiQuery({ name: 'execution', required: false, enum: EXECUTION_STATE_VALUES, description: 'Execution state.' })
  @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'subject', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { run_id, state, execution, capability, subject, ...page } = parse(listQuery, query);
    return this.reads.list(caller, {
      log: MUTATIONS_LOG,
      kind: 'mutation',
      where: { run_id, recoverability: state, execution_state: execution, capability, subject_ref: subject },
      ...page,
    });
  }

  @Get('mutations/:id')
  @ApiOperation({
    summary:
      'One mutation: its execution, its recovery pointer, its states, what was executed to undo it, and where the log proves what was bound.',
  })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  async one(@FromCaller() caller: Caller, @Param('id') id: string, @Query() query: unknown): Promise<unknown> {
    const { tenant } = parse(oneQuery, query);
    const { doc, partition } = await this.reads.find(caller, {
      log: MUTATIONS_LOG,
      kind: 'mutation',
      where: { mutation_id: parse(idText, id) },
      tenant,
    });
    const mutation = doc as Mutation; // rows of this kind are mutations
    const [shown] = await this.reads.shown([doc]);
    const undoing = await this.reads.list(caller, {
      log: MUTATIONS_LOG,
      kind: 'compensation',
      where: { reverses_mutation_id: mutation.mutation_id },
      tenant,
    });
    return render({
      ...shown,
      status: effectStatusOf(mutation),
      compensations: undoing.items,
      proof: proofOf(mutation, partition),
    });
  }

  @Get('runs/:run_id/undo-preview')
  @ApiOperation({
    summary:
      'What an undo of the run, or of some of its mutations, would do: what can be undone, what leaves residue, what cannot, and who has to agree.',
  })
  @ApiQuery({ name: 'mutation_id', required: false, isArray: true })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  async undoPreview(
    @FromCaller() caller: Caller,
    @Param('run_id') run: string,
    @Query() query: unknown,
  ): Promise<unknown> {
    const runId = parse(idText, run);
    const { tenant, mutation_id: asked } = parse(previewQuery, query);
    const mutations = await this.reads.every(
      caller,
      { log: MUTATIONS_LOG, kind: 'mutation', where: { run_id: runId }, tenant },
      MUTATIONS_MAX,
    );
    return render(undoPreview(runId, mutations as readonly Mutation[], asked, await this.queries.now())); // rows of this kind are mutations
  }

  @Post('mutations/:id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Takes back an effect that is still held; once it was let go it is not.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(whyBody) })
  async cancel(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const { reason } = parse(whyBody, input);
    const { run_id, tenant } = await this.found(caller, id);
    await this.commands.submit(caller, {
      type: 'recourse.mutations.CancelMutation',
      key: run_id,
      tenant,
      body: { mutation_id: id, reason },
      build: (envelope) => ({ envelope, run_id, mutation_id: id, reason }),
    });
  }

  @Post('mutations/:id/settle')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Ends what waits for people about one effect: how its execution ended, or what becomes of one that nothing automatic can take back.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(settleBody) })
  async settle(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const said = parse(settleBody, input);
    const { run_id, tenant } = await this.found(caller, id);
    await this.commands.submit(caller, {
      type: 'recourse.mutations.SettleMutation',
      key: run_id,
      tenant,
      body: { mutation_id: id, ...said },
      build: (envelope) => ({ envelope, run_id, mutation_id: id, ...said }),
    });
  }

  @Post('mutations/:id/reconcile')
  @HttpCode(202)
  @ApiOperation({ summary: 'Has a worker look once more how an execution ended that people are asked about.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(whyBody) })
  async reconcile(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const { reason } = parse(whyBody, input);
    const { run_id, tenant } = await this.found(caller, id);
    await this.commands.submit(caller, {
      type: 'recourse.mutations.ReconcileMutation',
      key: run_id,
      tenant,
      body: { mutation_id: id, reason },
      build: (envelope) => ({ envelope, run_id, mutation_id: id, reason }),
    });
  }

  private async found(caller: Caller, id: string): Promise<Mutation> {
    const { doc } = await this.reads.find(caller, {
      log: MUTATIONS_LOG,
      kind: 'mutation',
      where: { mutation_id: parse(idText, id) },
    });
    return doc as Mutation; // rows of this kind are mutations
  }

  @Get('assumptions')
  @ApiOperation({ summary: 'What was last stated about assumptions, and what each of their sources says.' })
  @ApiQuery({ name: 'disputed', required: false, description: 'true: only those whose sources contradict each other.' })
  @ApiQuery({ name: 'ref', required: false })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  assumptions(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { ref, run_id, disputed, ...page } = parse(assumptionQuery, query);
    const is_disputed = disputed === undefined ? undefined : disputed === 'true';
    const where = { ref, run_id, is_disputed };
    return this.reads.list(caller, { log: ASSUMPTIONS_LOG, kind: 'assumption', where, ...page });
  }
}

/**
 * Where the log holds what was bound, and the hashes that the record commits to; null while nothing was accepted.
 *
 * Shape:  `recourse audit prove` takes log, partition and seq; the hash of that record is `recorded_hash`.
 */
function proofOf({ recorded_hash, recorded_seq, terms, ref, executed_sha256 }: Mutation, partition: number): unknown {
  if (recorded_hash === null) return null;
  return {
    log: MUTATIONS_LOG,
    partition,
    seq: recorded_seq,
    recorded_hash,
    contract_digest: terms?.contract_digest ?? null,
    contract_version: terms?.contract_version ?? null,
    bound_args_sha256: ref?.reversal_args?.sha256 ?? null,
    further_args_sha256: ref?.reversal_then.map(({ args }) => args.sha256) ?? [],
    prior_value_hash: ref?.prior_value_hash ?? null,
    content_sha256: executed_sha256,
  };
}
