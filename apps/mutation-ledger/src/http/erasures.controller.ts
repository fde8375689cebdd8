// HTTP edge of the ledger: data of people is erased by destroying the keys that seal it; every hash stays as it is.
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  EdgeRefusal,
  FromCaller,
  idText,
  openApiSchema,
  parse,
  reasonText,
  SERVICE_CONTEXT,
  tenantOfCommand,
  tenantText,
} from '@recourse/service';
import type { Caller, ServiceContext } from '@recourse/service';
import { z } from 'zod';

const erasure = z.strictObject({
  subject: idText.optional(),
  ended_by: z.number().int().min(0).optional(),
  tenant: tenantText.optional(),
  reason: reasonText,
});

/** What was erased. */
interface Erased {
  readonly tenant: string;
  readonly subject: string | null;
  /** Windows that ended at or before this, epoch milliseconds; null for all. */
  readonly ended_by: number | null;
  readonly keys_destroyed: number;
}

@ApiTags('administration')
@ApiBearerAuth()
@Controller('v1/erasures')
export class ErasuresController {
  constructor(@Inject(SERVICE_CONTEXT) private readonly service: ServiceContext) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Erases what was recorded of a subject, or in windows that have ended, for good: in logs, projections and reads. For administrators.',
  })
  @ApiBody({ schema: openApiSchema(erasure) })
  async erase(@FromCaller() { principal }: Caller, @Body() input: unknown): Promise<Erased> {
    const { subject, ended_by, tenant: named, reason } = parse(erasure, input);
    if (subject === undefined && ended_by === undefined)
      throw new EdgeRefusal(
        'INPUT_INVALID',
        'say whose data (subject), or up to when (ended_by); everything of a tenant is not erased at once',
      );
    const tenant = tenantOfCommand(principal, named);
    const keys_destroyed = await this.service.keys.destroy({
      tenant,
      by: principal.subject,
      reason,
      ...(subject === undefined ? {} : { subject }),
      ...(ended_by === undefined ? {} : { endedBy: ended_by }),
    });
    return { tenant, subject: subject ?? null, ended_by: ended_by ?? null, keys_destroyed };
  }
}
