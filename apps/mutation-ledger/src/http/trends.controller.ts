// HTTP edge of trends: rollbacks that come steadily faster, and a person's word about them (E47).
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Commands, FromCaller, idText, openApiSchema, pageQuery, parse, Reads, reasonText } from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import type { TrendDoc } from '../rules/trend/trend.messages.js';

const TRENDS = { log: MUTATIONS_LOG, kind: 'trend' } as const;
const pagesOnly = z.strictObject(pageQuery);
const because = z.strictObject({ reason: reasonText });

@ApiTags('rollbacks')
@ApiBearerAuth()
@Controller('v1/trends')
export class TrendsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Get()
  @ApiOperation({
    summary:
      'Tenants and agents whose rollbacks rise steadily, until a person has looked: windows, owner and deadline. Each partition counts its own.',
  })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    return this.reads.list(caller, { ...TRENDS, where: { phase: 'rising' }, ...parse(pagesOnly, query) });
  }

  @Post(':id/review')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Says what was done about a rise, or why it may go on: its rate is the usual one from then on.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(because) })
  async review(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const { reason } = parse(because, input);
    const trend_id = parse(idText, id);
    const { doc } = await this.reads.find(caller, { ...TRENDS, where: { trend_id } });
    const { scope, name, tenant, run_id } = doc as TrendDoc; // rows of this kind are trends
    await this.commands.submit(caller, {
      type: 'recourse.mutations.ReviewTrend',
      key: run_id ?? '',
      tenant,
      body: { trend_id, reason },
      build: (envelope) => ({ envelope, run_id: run_id ?? '', trend_id, scope, name, reason }),
    });
  }
}
