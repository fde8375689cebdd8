// HTTP edge of commits without an outside effect: what was committed, the state at a commit, and where a run goes on.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  EdgeRefusal,
  FromCaller,
  Id,
  idText,
  runText,
  pageQuery,
  Queried,
  ReadRoute,
  Reads,
  render,
  SERVICE_CONTEXT,
} from '@recourse/service';
import type { Caller, ListAnswer, Rendered, ServiceContext } from '@recourse/service';
import type { Json } from '@recourse/kernel';
import type { Packet } from '@recourse/lineage';
import { z } from 'zod';
import { assumptionView } from '../core.js';
import { STANDINGS, standingOf } from '../rows/commit.rows.js';
import { packetOf, packetParts } from '../reads/packet.query.js';
import { pathTo, resumeOf, resumeParts, stateAt, withOpened } from '../reads/resume.query.js';
import type { FallenPart, Resume, RunRows, RunSteps } from '../reads/resume.query.js';
import type { Chunk, Commit } from '../rules/commit/commit.messages.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import { heardOf } from './heard-of.js';

/** Rows of one run that are read to say where it goes on. */
const ROWS_MAX = 100_000;
const listQuery = z.strictObject({
  ...pageQuery,
  run_id: runText.optional(),
  agent_id: idText.optional(),
  standing: z.enum(STANDINGS).optional(),
  subject: idText.optional(),
  bundle: idText.optional().describe('Policy bundle that admitted it.'),
});
const oneQuery = z.strictObject({ tenant: pageQuery.tenant, state: z.enum(['true', 'false']).default('false') });
const tenantQuery = z.strictObject({ tenant: pageQuery.tenant });
/** The run is named here where no path can hold it: a client takes one that is called `..` for a way up. */
const resumeQuery = z.strictObject({ tenant: pageQuery.tenant, run_id: runText.optional() });

/** A commit, where the log holds it, and what became of it; with its state where that was asked for. */
type CommitShown = Commit & {
  readonly standing: (typeof STANDINGS)[number];
  readonly proof: {
    readonly log: string;
    readonly partition: number;
    readonly seq: number;
    readonly recorded_hash: Buffer;
  };
  readonly state?: Json;
  /** Why there is no state; null where it is told. */
  readonly state_code?: string | null;
};
/** Where a run goes on. */
type ResumeShown = Resume & { readonly run_id: string };

@ApiTags('commits')
@ApiBearerAuth()
@Controller('v1')
export class CommitsController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(SERVICE_CONTEXT) private readonly service: ServiceContext,
  ) {}

  @ReadRoute('commits', 'Commits without an outside effect, and what became of them.', listQuery)
  list(
    @FromCaller() caller: Caller,
    @Queried(listQuery) { run_id, agent_id, standing, subject, bundle, ...page }: z.infer<typeof listQuery>,
  ): Promise<ListAnswer<Rendered<Commit>>> {
    return this.reads.list<Commit>(caller, {
      log: MUTATIONS_LOG,
      kind: 'commit',
      where: { group_key: run_id, agent_id, standing: standing ?? STANDINGS, bundle, subject_ref: subject },
      ...page,
    });
  }

  @ReadRoute('commits/:id', 'One commit; with state=true the state at it, restored from what the log holds.', oneQuery)
  async one(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Queried(oneQuery) { tenant, state }: z.infer<typeof oneQuery>,
  ): Promise<Rendered<CommitShown>> {
    const { doc, partition } = await this.reads.find(caller, {
      log: MUTATIONS_LOG,
      kind: 'commit',
      where: { commit_id: id },
      tenant,
    });
    const commit = doc as Commit; // rows of this kind are commits
    const proof = { log: MUTATIONS_LOG, partition, seq: commit.recorded_seq, recorded_hash: commit.recorded_hash };
    const more = { standing: standingOf(commit), proof };
    if (state === 'false') {
      const [shown = commit] = (await this.reads.shown(caller, [commit])).docs;
      return render({ ...shown, ...more });
    }
    const { commits: all } = await this.stepsOf(caller, commit.run_id, commit.tenant);
    const { commits, chunks } = await this.openedStates(caller, pathTo(commit.commit_id, all), commit.tenant);
    const restored = stateAt(commit.commit_id, { commits, chunks });
    return render({
      ...(commits.find(({ commit_id }) => commit_id === commit.commit_id) ?? commit),
      ...more,
      state: restored.ok ? restored.state : null,
      state_code: restored.ok ? null : restored.code,
    });
  }

  @ReadRoute(
    'commits/:id/packet',
    'The replay packet of a commit without its policy: the commits its state and its gate build on, with all their bytes (base64) that are kept.',
    tenantQuery,
  )
  async packet(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Queried(tenantQuery) { tenant }: z.infer<typeof tenantQuery>,
  ): Promise<Packet> {
    const { doc, partition } = await this.reads.find(caller, {
      log: MUTATIONS_LOG,
      kind: 'commit',
      where: { commit_id: id },
      tenant,
    });
    const target = doc as Commit; // rows of this kind are commits
    const steps = await this.stepsOf(caller, target.run_id, target.tenant);
    const parts = packetParts(target, steps);
    const commits = steps.commits.filter(({ commit_id: one }) => parts.ids.has(one));
    const opened = await this.openedStates(caller, commits, target.tenant); // of effects it holds no payload
    return packetOf(target, parts, { ...opened, mutations: steps.mutations }, { log: MUTATIONS_LOG, partition });
  }

  @ReadRoute(
    'runs/:run_id/resume',
    'Where a run goes on: the newest commit that stands with all it rests on, its state, and the evidence against the rest. What was told of the run before is in it, or the answer is PROJECTION_BEHIND. `run_id` in the query stands above the path, for runs that no path can name.',
    resumeQuery,
  )
  async resume(
    @FromCaller() caller: Caller,
    @Id('run_id') runInPath: string,
    @Queried(resumeQuery) { tenant, run_id: runId = runInPath }: z.infer<typeof resumeQuery>,
  ): Promise<Rendered<ResumeShown>> {
    await heardOf(this.service, runId);
    const steps = await this.recordOf(caller, runId, tenant);
    const { path, fallen } = resumeParts(steps);
    const opened = await this.openedStates(caller, path, tenant, fallen);
    const verdicts = (await this.service.view?.(assumptionView.name)) ?? null;
    const rows = { ...withOpened(steps, { path: opened.commits, fallen: opened.fallen }), chunks: opened.chunks };
    return render({ run_id: runId, ...resumeOf(rows, verdicts) });
  }

  /** Rows of a run that has some. Errors: EdgeRefusal(RUN_UNKNOWN, PROJECTION_BEHIND): whoever hears that there is nothing begins anew, so nobody says it while rows are behind their log. */
  private async recordOf(caller: Caller, runId: string, tenant: string | undefined): Promise<RunSteps> {
    const first = await this.stepsOf(caller, runId, tenant);
    if (!isEmpty(first)) return first;
    const isReached = await this.service.projection.isReached(MUTATIONS_LOG);
    const again = await this.stepsOf(caller, runId, tenant);
    if (!isEmpty(again)) return again;
    throw isReached
      ? new EdgeRefusal('RUN_UNKNOWN', 'nothing of this run is on record')
      : new EdgeRefusal('PROJECTION_BEHIND', `rows of ${MUTATIONS_LOG} are behind`);
  }

  /** Commits with their states, and what speaks against steps, opened: one reading. Errors: those of `Reads.opened`. */
  private async openedStates(
    caller: Caller,
    commits: readonly Commit[],
    tenant: string | undefined,
    fallen: readonly FallenPart[] = [],
  ): Promise<Pick<RunRows, 'commits' | 'chunks'> & { readonly fallen: readonly FallenPart[] }> {
    this.reads.refuseSealed(caller, [...commits, ...fallen, ...(await this.chunksOf(caller, commits, tenant, 1))]);
    const chunks = await this.chunksOf(caller, commits, tenant, ROWS_MAX);
    const opened = await this.reads.opened<Commit | FallenPart | Chunk>(caller, [...commits, ...fallen, ...chunks]);
    const afterFallen = commits.length + fallen.length;
    // Each is what it was, in its place.
    return {
      commits: opened.slice(0, commits.length) as readonly Commit[],
      fallen: opened.slice(commits.length, afterFallen) as readonly FallenPart[],
      chunks: opened.slice(afterFallen) as readonly Chunk[],
    };
  }

  /** Commits and effects of a run; effects last, so that what commits rest on is there, and has fallen where it did meanwhile. */
  private async stepsOf(caller: Caller, runId: string, tenant: string | undefined): Promise<RunSteps> {
    const every = (kind: string) =>
      this.reads.every(caller, { log: MUTATIONS_LOG, kind, where: { group_key: runId }, tenant }, ROWS_MAX);
    const commits = await every('commit');
    const mutations = await every('mutation');
    return { commits: commits as readonly Commit[], mutations: mutations as readonly Mutation[] }; // rows of these kinds are written by the ledger alone
  }

  /** Chunks of those commits whose states came in several, so many at the most. */
  private async chunksOf(
    caller: Caller,
    commits: readonly Commit[],
    tenant: string | undefined,
    countMax: number,
  ): Promise<readonly Chunk[]> {
    const ids = commits
      .filter(({ checkpoint: { state }, hardened }) => state !== null && state.body === null && hardened === null)
      .map(({ commit_id: id }) => id);
    if (ids.length === 0) return [];
    const query = { log: MUTATIONS_LOG, kind: 'state_chunk', where: { commit_id: ids }, tenant };
    return (await this.reads.every(caller, query, countMax)) as readonly Chunk[]; // rows of this kind are written by the ledger alone
  }
}

function isEmpty({ commits, mutations }: RunSteps): boolean {
  return commits.length + mutations.length === 0;
}
