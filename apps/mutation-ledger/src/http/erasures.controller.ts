// HTTP edge of the ledger: data of people is erased by destroying the keys that seal it; every hash stays as it is.
//
// Invariants
//   E2. Of what goes by its window only what has ended is erased: a time to come, from a slip in the year, would take all there is.
//   E1. No key is destroyed before it is on record who ordered it (ERASURE_UNRECORDED). Asked again, the same is erased again.
import { randomUUID } from 'node:crypto';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import { subjectId } from '@recourse/contract';
import {
  EdgeRefusal,
  FromCaller,
  openApiSchema,
  parse,
  instant,
  reasonText,
  SERVICE_CONTEXT,
  subjectText,
  tenantOfCommand,
  tenantText,
} from '@recourse/service';
import type { Caller, ServiceContext } from '@recourse/service';
import { z } from 'zod';

const erasure = z.strictObject({
  subject: subjectText.optional(),
  ended_by: instant.optional(),
  tenant: tenantText.optional(),
  reason: reasonText,
});

/** What was erased. */
interface Erased {
  /** Under which it is on record. */
  readonly erasure_id: string;
  readonly tenant: string;
  readonly subject: string | null;
  /** How the record names the subject. */
  readonly subject_id: string | null;
  /** Windows that ended at or before this, epoch milliseconds; null for all. */
  readonly ended_by: number | null;
  readonly keys_destroyed: number;
}

type Ordered = Pick<Erased, 'tenant' | 'subject_id' | 'ended_by'> & { readonly reason: string };

@ApiTags('administration')
@ApiBearerAuth()
@Controller('v1/erasures')
export class ErasuresController {
  constructor(@Inject(SERVICE_CONTEXT) private readonly service: ServiceContext) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Erases what was recorded of a subject, or in windows that have ended, for good: in logs, projections and reads. Who ordered it is on record before. For administrators.',
  })
  @ApiBody({ schema: openApiSchema(erasure) })
  async erase(@FromCaller() caller: Caller, @Body() input: unknown): Promise<Erased> {
    const { subject, ended_by, tenant: named, reason } = parse(erasure, input);
    if (subject === undefined && ended_by === undefined)
      throw new EdgeRefusal(
        'INPUT_INVALID',
        'say whose data (subject), or up to when (ended_by); everything of a tenant is not erased at once',
      );
    if (ended_by !== undefined && ended_by > Date.now())
      throw new EdgeRefusal('INPUT_INVALID', 'ended_by is still to come: name a time that has passed');
    const { principal } = caller;
    const tenant = tenantOfCommand(principal, named);
    const subject_id = subject === undefined ? null : subjectId(tenant, subject);
    const erasure_id = await this.recorded(caller, { tenant, subject_id, ended_by: ended_by ?? null, reason });
    const keys_destroyed = await this.service.keys.destroy({
      tenant,
      by: principal.subject,
      reason,
      ...(subject === undefined ? {} : { subject }),
      ...(ended_by === undefined ? {} : { endedBy: ended_by }),
    });
    return { erasure_id, tenant, subject: subject ?? null, subject_id, ended_by: ended_by ?? null, keys_destroyed };
  }

  /** Puts the order on record. Errors: EdgeRefusal(ERASURE_UNRECORDED). */
  private async recorded(
    { principal, route, idempotencyKey = randomUUID() }: Caller,
    { tenant, ...order }: Ordered,
  ): Promise<string> {
    const { definition, edge } = this.service;
    const { httpStatus, body } = await edge.submit({
      topic: definition.commandTopic,
      log: definition.commandLog,
      type: 'recourse.mutations.OrderErasure',
      key: tenant,
      principal,
      tenant,
      route,
      idempotencyKey,
      body: order,
      build: (envelope) => ({ envelope, ...order }),
    });
    if (httpStatus !== 201)
      throw new EdgeRefusal('ERASURE_UNRECORDED', `${definition.commandLog} does not say that it was recorded`);
    // What onOrderErasure answers.
    return (JSON.parse(body) as { readonly erasure_id: string }).erasure_id;
  }
}
