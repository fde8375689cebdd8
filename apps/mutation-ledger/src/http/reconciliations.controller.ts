// HTTP edge of reconciliations: a runtime says what it holds, and hears what of it fell.
import { Body, Controller, Inject, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  bounded,
  Commands,
  EdgeRefusal,
  entriesIn,
  FromCaller,
  idText,
  runText,
  instant,
  listsController,
  openApiSchema,
  parse,
  tenantText,
} from '@recourse/service';
import type { Caller } from '@recourse/service';
import { z } from 'zod';
import { COMMITS_MAX } from '../rules/reconciliation/reconciliation.decider.js';
import type { Divergence } from '../rules/reconciliation/reconciliation.decider.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import type { Reconciliation } from '../rows/reconciliation.rows.js';

const PARENTS_MAX = 100;
/** Bytes of a comparison as JSON: it fits the wire (256 KB), and its answer, which may name everything twice, one decision (900 KB). */
const BYTES_MAX = 160 * 1_024;
/** Fewest bytes in which a commit is named. */
const NAME_BYTES_MIN = '{"run_id":"r","commit_id":"c"}'.length;
/** Most commits that so many bytes name, parents counted. */
const NAMED_MAX = Math.floor(BYTES_MAX / NAME_BYTES_MIN);
const ref = z.strictObject({ run_id: runText, commit_id: idText });
const held = z.strictObject({
  ...ref.shape,
  derived_from: z.array(ref).max(PARENTS_MAX).default([]),
  stands: z.boolean().default(true),
  reached_user_at: instant.nullable().default(null),
});
const TOO_LARGE = {
  code: 'RECONCILIATION_TOO_LARGE',
  message: 'Split it; `recourse lineage reconcile` does.',
} as const;
const comparison = z.strictObject({
  runtime: idText,
  tenant: tenantText.optional(),
  commits: bounded(
    { sizeOf: entriesIn, max: COMMITS_MAX, ...TOO_LARGE },
    bounded({ sizeOf: namedIn, max: NAMED_MAX, ...TOO_LARGE }, z.array(held).max(COMMITS_MAX)),
  ),
});
export const ReconciliationListsController = listsController<{
  readonly reconciliations: Reconciliation;
  readonly 'reconciliations/divergences': Divergence;
}>({
  tag: 'lineage',
  log: MUTATIONS_LOG,
  lists: {
    reconciliations: {
      kind: 'reconciliation',
      summary: 'Comparisons that were made, with what diverged.',
      where: {
        runtime: idText.optional(),
        diverges: z
          .enum(['true', 'false'])
          .transform((text) => text === 'true')
          .optional(),
      },
    },
    'reconciliations/divergences': {
      kind: 'divergence',
      summary: 'Runtimes that keep what fell, until a person has dealt with it: owner and deadline.',
    },
  },
});

@ApiTags('lineage')
@ApiBearerAuth()
@Controller('v1/reconciliations')
export class ReconciliationsController {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  @Post()
  @ApiOperation({
    summary:
      'Compares the commits a runtime holds with what was rolled back, and records where it diverges: what fell, what was made from it, and when that reached users.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(comparison) })
  reconcile(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const { tenant, ...body } = parse(comparison, input);
    if (Buffer.byteLength(JSON.stringify(body)) > BYTES_MAX)
      throw new EdgeRefusal('INPUT_INVALID', `a comparison takes ${COMMITS_MAX} commits and ${BYTES_MAX} bytes`, [
        { ...TOO_LARGE, path: '/commits' },
      ]);
    return this.commands.submit(caller, {
      type: 'recourse.mutations.ReconcileLineage',
      key: body.runtime,
      tenant,
      body,
      build: (envelope) => ({ envelope, ...body }),
    });
  }
}

/** Commits that a comparison names with all their parents, before it is known to be one. */
function namedIn(commits: unknown): number {
  if (!Array.isArray(commits)) return 0;
  return commits.reduce<number>((sum, commit: unknown) => sum + 1 + parentsIn(commit), 0);
}

function parentsIn(commit: unknown): number {
  return typeof commit === 'object' && commit !== null && 'derived_from' in commit ? entriesIn(commit.derived_from) : 0;
}
