// HTTP edge of the mutation ledger: reads, and the way to take back what is held; executions come by Kafka.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  EdgeRefusal,
  FromCaller,
  Id,
  idText,
  runText,
  listsController,
  pageQuery,
  Queried,
  ReadRoute,
  Reads,
  render,
  SERVICE_CONTEXT,
} from '@recourse/service';
import type { Caller, Rendered, ServiceContext } from '@recourse/service';
import { EXECUTION_STATE_VALUES, RECOVERABILITY_STATE_VALUES } from '@recourse/messages';
import type { Brief } from '@recourse/messages';
import { z } from 'zod';
import { briefOf } from '@recourse/contract';
import { boundNowIn } from '../reads/bound-now.view.js';
import { undoPreview } from '../reads/undo-preview.query.js';
import type { UndoPreview } from '../reads/undo-preview.query.js';
import { effectStatusOf } from '../rules/effect/effect.decisions.js';
import { endsOf } from '../rules/mutation/reported.decisions.js';
import type { EffectStatus } from '../rules/effect/effect.decisions.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { LedgerQueries } from '../reads/ledger-queries.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import { heardOf } from './heard-of.js';
import type { Compensation } from '../rules/compensation/compensation.messages.js';
import type { StandingStatement } from '../rules/assumption/assumption.messages.js';

const ASSUMPTIONS_LOG = 'recourse.assumptions';
const oneQuery = z.strictObject({
  tenant: pageQuery.tenant,
  run_id: runText
    .optional()
    .describe('Run of the call, of one who may make it again: answered once all that was told of it is on record.'),
});
/** Mutations of one run that a preview looks at. */
const MUTATIONS_MAX = 100_000;
/** Compensations of one mutation that are shown with it. */
const COMPENSATIONS_MAX = 100;
/** Until a person has settled or undone it, whoever may do so is shown what it was. */
const FOR_PEOPLE: readonly EffectStatus[] = ['uncertain', 'manual_review'];
const previewQuery = z.strictObject({
  tenant: pageQuery.tenant,
  /** The run is named here where no path can hold it: a client takes one that is called `..` for a way up. */
  run_id: runText.optional(),
  mutation_id: z.union([idText.transform((one) => [one]), z.array(idText).max(200)]).default([]),
});
/** Where the log holds what was bound, and the hashes that the record commits to. */
interface Proof {
  readonly log: string;
  readonly partition: number;
  readonly seq: number | null;
  readonly recorded_hash: Buffer;
  readonly contract_digest: Buffer | null;
  readonly contract_version: number | null;
  readonly bound_args_sha256: Buffer | null;
  /** Of each further call of the reversal. */
  readonly further_args_sha256: readonly Buffer[];
  readonly prior_value_hash: Buffer | null;
  readonly content_sha256: Buffer | null;
}

/** A mutation with what follows from its row, and what was executed to undo it. */
type MutationShown = Mutation & {
  readonly status: EffectStatus;
  /** How many ends of its call are on record. */
  readonly ends: number;
  readonly brief: Brief;
  readonly compensations: readonly Compensation[];
  /** Null while nothing was accepted. */
  readonly proof: Proof | null;
};

export const MutationListsController = listsController<{ readonly mutations: Mutation }>({
  tag: 'mutations',
  log: MUTATIONS_LOG,
  lists: {
    mutations: {
      kind: 'mutation',
      summary: 'Recorded effects with their recoverability.',
      where: {
        run_id: runText.optional(),
        state: z.enum(RECOVERABILITY_STATE_VALUES).optional().describe('Recoverability state.'),
        execution: z.enum(EXECUTION_STATE_VALUES).optional().describe('Execution state.'),
        capability: idText.optional(),
        subject: idText.optional(),
      },
      columns: { state: 'recoverability', execution: 'execution_state', subject: 'subject_ref', run_id: 'group_key' },
      always: { execution_state: EXECUTION_STATE_VALUES },
    },
  },
});

export const AssumptionListsController = listsController<{ readonly assumptions: StandingStatement }>({
  tag: 'mutations',
  log: ASSUMPTIONS_LOG,
  lists: {
    assumptions: {
      kind: 'assumption',
      summary: 'What was last stated about assumptions, and what each of their sources says.',
      where: {
        ref: idText.optional(),
        run_id: runText.optional(),
        disputed: z
          .enum(['true', 'false'])
          .transform((text) => text === 'true')
          .optional()
          .describe('true: only those whose sources contradict each other.'),
      },
      columns: { disputed: 'is_disputed' },
    },
  },
});

@ApiTags('mutations')
@ApiBearerAuth()
@Controller('v1')
export class MutationsController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(LedgerQueries) private readonly queries: LedgerQueries,
    @Inject(SERVICE_CONTEXT) private readonly service: ServiceContext,
  ) {}

  @ReadRoute(
    'mutations/:id',
    'One mutation: its execution, how many ends of its call are on record, its recovery pointer, its states, what was executed to undo it, and where the log proves what was bound.',
    oneQuery,
  )
  async one(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Queried(oneQuery) { tenant, run_id: runId }: z.infer<typeof oneQuery>,
  ): Promise<Rendered<MutationShown>> {
    if (runId !== undefined) await heardOf(this.service, runId);
    const { doc, partition } = await this.reads.find(caller, {
      log: MUTATIONS_LOG,
      kind: 'mutation',
      where: { mutation_id: id },
      tenant,
    });
    const mutation = doc as Mutation; // rows of this kind are mutations
    const undoing = await this.reads.every(
      caller,
      { log: MUTATIONS_LOG, kind: 'compensation', where: { reverses_mutation_id: mutation.mutation_id }, tenant },
      COMPENSATIONS_MAX,
    );
    const status = effectStatusOf(mutation);
    const {
      docs: [shown, ...compensations],
    } = await this.reads.shown(caller, [doc, ...undoing], FOR_PEOPLE.includes(status));
    return render({
      ...(shown as Mutation),
      status,
      ends: endsOf(mutation),
      brief: briefOf(mutation.execution.objective, mutation.terms),
      compensations: compensations as unknown as readonly Compensation[], // rows of that kind, in their places
      proof: proofOf(mutation, partition),
    });
  }

  @ReadRoute(
    'runs/:run_id/undo-preview',
    'What an undo of the run, or of some of its mutations, would do: what can be undone, what leaves residue, what cannot, and who has to agree, by the stricter of the contract of then and of now. `run_id` in the query stands above the path, for runs that no path can name.',
    previewQuery,
  )
  async undoPreview(
    @FromCaller() caller: Caller,
    @Id('run_id') runInPath: string,
    @Queried(previewQuery) { tenant, run_id: runId = runInPath, mutation_id: asked }: z.infer<typeof previewQuery>,
  ): Promise<Rendered<UndoPreview>> {
    const found = await this.mutationsOf(caller, runId, tenant);
    const [gone, boundNow, now] = await Promise.all([
      this.reads.whichErased(found.map(({ ref }) => ref?.reversal_args ?? null)),
      boundNowIn(this.service),
      this.queries.now(),
    ]);
    const erased = new Set(found.flatMap(({ mutation_id }, at) => (gone[at] === true ? [mutation_id] : [])));
    return render(undoPreview(runId, found, { asked, erased, boundNow, now }));
  }

  /** Mutations of a run. Errors: EdgeRefusal(PROJECTION_BEHIND): whoever hears that there is nothing to undo looks no further, so nobody says it while rows are behind their log. */
  private async mutationsOf(caller: Caller, runId: string, tenant: string | undefined): Promise<readonly Mutation[]> {
    const query = { log: MUTATIONS_LOG, kind: 'mutation', where: { group_key: runId }, tenant };
    // Rows of this kind are mutations.
    const look = async (): Promise<readonly Mutation[]> =>
      (await this.reads.every(caller, query, MUTATIONS_MAX)) as readonly Mutation[];
    const first = await look();
    if (first.length > 0) return first;
    const isReached = await this.service.projection.isReached(MUTATIONS_LOG);
    const again = await look();
    if (again.length > 0 || isReached) return again;
    throw new EdgeRefusal('PROJECTION_BEHIND', `rows of ${MUTATIONS_LOG} are behind`);
  }
}

/**
 * Where the log holds what was bound, and the hashes that the record commits to; null while nothing was accepted.
 *
 * Shape:  `recourse audit prove` takes log, partition and seq; the hash of that record is `recorded_hash`.
 */
function proofOf(
  { recorded_hash, recorded_seq, terms, ref, executed_sha256 }: Mutation,
  partition: number,
): Proof | null {
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
