// HTTP edge of compensations as executions: what was called to undo an effect, under which contract, and how it ended (A62).
import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { EXECUTION_STATE_VALUES } from '@recourse/messages';
import { FromCaller, idText, pageQuery, parse, Reads, render } from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

const KIND = { log: MUTATIONS_LOG, kind: 'compensation' } as const;
const listQuery = z.strictObject({
  ...pageQuery,
  run_id: idText.optional(),
  mutation_id: idText.optional(),
  execution: z.enum(EXECUTION_STATE_VALUES).optional(),
  capability: idText.optional(),
});
const oneQuery = z.strictObject({ tenant: idText.optional() });

@ApiTags('mutations')
@ApiBearerAuth()
@Controller('v1/compensations')
export class CompensationsController {
  constructor(@Inject(Reads) private readonly reads: Reads) {}

  @Get()
  @ApiOperation({
    summary: 'Compensations that were executed: each with its own contract, its value, and the mutation it reverses.',
  })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'mutation_id', required: false, description: 'The mutation that is reversed.' })
  @ApiQuery({ name: 'execution', required: false, enum: EXECUTION_STATE_VALUES, description: 'Execution state.' })
  @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { run_id, mutation_id, execution, capability, ...page } = parse(listQuery, query);
    return this.reads.list(caller, {
      ...KIND,
      where: { run_id, reverses_mutation_id: mutation_id, execution_state: execution, capability },
      ...page,
    });
  }

  @Get(':id')
  @ApiOperation({ summary: 'One compensation, by its own id.' })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  async one(@FromCaller() caller: Caller, @Param('id') id: string, @Query() query: unknown): Promise<unknown> {
    const { tenant } = parse(oneQuery, query);
    const { doc } = await this.reads.find(caller, { ...KIND, where: { compensation_id: parse(idText, id) }, tenant });
    const { docs } = await this.reads.shown(caller, [doc]);
    return render(docs[0]);
  }
}
