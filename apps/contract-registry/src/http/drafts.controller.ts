// HTTP edge of drafts: a first proposal for each tool of a document that tools come with. Nothing is kept, and a draft never binds.
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import { DRAFT_SOURCES, draftsFrom, sourceOf } from '@recourse/contract';
import type { Draft, DraftSource } from '@recourse/contract';
import { isTooDeep, JSON_DEPTH_MAX } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { EdgeRefusal, idText, openApiSchema, parse } from '@recourse/service';
import { z } from 'zod';

const draftInput = z.strictObject({
  /** An MCP tool list, an OpenAPI document, or declarations of tools. */
  document: z.unknown().refine((value) => !isTooDeep(value), `at most ${String(JSON_DEPTH_MAX)} levels deep`),
  /** What the document is, where it does not show. */
  from: z.enum(DRAFT_SOURCES).optional(),
  /** Prefix of the capabilities where the document names none. */
  adapter: idText.default('tools'),
  /** Who answers for them. */
  owner: idText.optional(),
  /** Currency of amounts that a declaration leaves bare. */
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code')
    .default('INR'),
});

export interface DraftsAnswer {
  readonly source: DraftSource;
  readonly drafts: readonly Draft[];
}

@ApiTags('contracts')
@ApiBearerAuth()
@Controller('v1/contract-drafts')
export class ContractDraftsController {
  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Drafts a contract for each tool of an MCP tool list, an OpenAPI document or declarations of tools, with what a person has to decide. Nothing is kept; a draft never binds.',
  })
  @ApiBody({ schema: openApiSchema(draftInput) })
  draft(@Body() input: unknown): DraftsAnswer {
    const { document, from, adapter, owner = null, currency } = parse(draftInput, input);
    const source = from ?? sourceOf(document as Json); // a body is JSON
    if (source === null)
      throw new EdgeRefusal(
        'INPUT_INVALID',
        'the document is no tool list and no OpenAPI document: say in `from` what it is',
        [{ code: 'DOCUMENT_UNKNOWN', path: '/document', message: 'is no tool list and no OpenAPI document' }],
      );
    return { source, drafts: draftsFrom(source, document as Json, { adapter, owner, currency }) };
  }
}
