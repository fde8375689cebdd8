// HTTP edge of the mutation ledger: reads only, executions come by Kafka.
import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { FromCaller, idText, pageQuery, parse, Reads, render } from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';

const MUTATIONS_LOG = 'recourse.mutations';
const ASSUMPTIONS_LOG = 'recourse.assumptions';
const listQuery = z.strictObject({ ...pageQuery, run_id: idText.optional(), state: idText.optional(), capability: idText.optional(), subject: idText.optional() });
const assumptionQuery = z.strictObject({ ...pageQuery, ref: idText.optional(), run_id: idText.optional() });

@ApiTags('mutations') @ApiBearerAuth()
@Controller('v1')
export class MutationsController {
  constructor(@Inject(Reads) private readonly reads: Reads) {}

  @Get('mutations') @ApiOperation({ summary: 'Recorded effects with their recoverability.' })
  @ApiQuery({ name: 'run_id', required: false }) @ApiQuery({ name: 'state', required: false, description: 'Recoverability state.' }) @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'subject', required: false }) @ApiQuery({ name: 'cursor', required: false }) @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { run_id, state, capability, subject, ...page } = parse(listQuery, query);
    return this.reads.list(caller, { log: MUTATIONS_LOG, kind: 'mutation', where: { run_id, recoverability: state, capability, subject_ref: subject }, ...page });
  }

  @Get('mutations/:id') @ApiOperation({ summary: 'One mutation: its execution, its recovery pointer, its states.' })
  async one(@FromCaller() caller: Caller, @Param('id') id: string): Promise<unknown> {
    return render((await this.reads.find(caller, { log: MUTATIONS_LOG, kind: 'mutation', where: { mutation_id: parse(idText, id) } })).doc);
  }

  @Get('assumptions') @ApiOperation({ summary: 'What was last stated about assumptions.' })
  @ApiQuery({ name: 'ref', required: false }) @ApiQuery({ name: 'run_id', required: false }) @ApiQuery({ name: 'cursor', required: false }) @ApiQuery({ name: 'limit', required: false })
  assumptions(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { ref, run_id, ...page } = parse(assumptionQuery, query);
    return this.reads.list(caller, { log: ASSUMPTIONS_LOG, kind: 'assumption', where: { ref, run_id }, ...page });
  }
}
