// HTTP edge of re-evaluation: which successor bundles are applied to earlier commits, and how far that has come.
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { FromCaller, idText, pageQuery, parse, Reads } from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { REEVALUATION_KIND } from '../rows/reevaluation.rows.js';
import { REEVALUATION_PHASES } from '../rules/commit/reevaluation.decisions.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

const listQuery = z.strictObject({
  ...pageQuery,
  bundle: idText.optional(),
  phase: z.enum(REEVALUATION_PHASES).optional(),
});

/** Jobs of bundles that hold for all tenants are everybody's to see: they name no commit. */
const OF_ALL = '*';

@ApiTags('commits')
@ApiBearerAuth()
@Controller('v1')
export class ReevaluationsController {
  constructor(@Inject(Reads) private readonly reads: Reads) {}

  @Get('reevaluations')
  @ApiOperation({
    summary:
      'Versions of policy bundles that are applied to earlier commits: how many were looked at, how many are refused, how many cannot be judged. One item per partition that has such commits.',
  })
  @ApiQuery({ name: 'bundle', required: false })
  @ApiQuery({ name: 'phase', required: false, enum: REEVALUATION_PHASES })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { bundle, phase, ...page } = parse(listQuery, query);
    return this.reads.list(caller, {
      log: MUTATIONS_LOG,
      kind: REEVALUATION_KIND,
      where: { bundle, phase },
      sharedTenant: OF_ALL,
      ...page,
    });
  }
}
