// Where a run goes on, over the ledger's HTTP edge.
//
// Shape: GET /v1/runs/<run id>/resume?tenant=<tenant> (askOfRun) → 200 {run_id, checkpoint, state, state_code, evidence, rolled_back}, 404
// RUN_UNKNOWN when nothing of the run is on record; any other 404 is not the ledger's answer to this question. What was stated is a payload as edges show it: {content_type, encoding, key_id, sha256, body}, its body JSON.
import type { Json } from '@recourse/kernel';
import { EVIDENCE_KIND_VALUES } from '@recourse/messages';
import { z } from 'zod';
import { EdgeProblem, edgeClient, problemOf } from '../edge/edge.js';
import type { EdgeAnswer, EdgeClient, EdgeOptions } from '../edge/edge.js';
import { askOfRun } from '../edge/run-place.js';
import type { ResumeAnswer, ResumeSource } from './resume.port.js';

const payload = z.object({ content_type: z.string(), encoding: z.string(), sha256: z.string(), body: z.json() });
const evidence = z.object({
  // A kind newer than this build is read as what it may be at the least: somebody's observation.
  kind: z.enum(EVIDENCE_KIND_VALUES).catch('observation'),
  source: z.string(),
  ref: z.string().nullable(),
  statement: z.json().nullable(),
  stated_at: z.number(),
});
const resumption = z.object({
  checkpoint: z.object({ run_id: z.string(), commit_id: z.string() }).nullable(),
  state: z.json().nullable(),
  state_code: z.enum(['no_state', 'state_unavailable']).nullable(),
  evidence: z.array(
    z.object({
      commit_id: z.string(),
      rollback_id: z.string(),
      evidence,
      // A ledger of before does not say.
      ref_stands: z.boolean().nullable().default(null),
    }),
  ),
  rolled_back: z.array(z.string()),
});

/** Longer than the ledger waits until it has on record what was told of a run, milliseconds. */
const TIMEOUT_MS = 15_000;

/** Asks the ledger's edge where runs go on. What of a run was acknowledged before is in the answer, or nobody can say. */
export class HttpResume implements ResumeSource {
  private readonly ledger: EdgeClient;

  /** `options.url`: base address of the ledger. `options.timeoutMs` is 15,000 unless told. */
  constructor(options: EdgeOptions) {
    this.ledger = edgeClient({ name: 'the ledger', timeoutMs: TIMEOUT_MS, ...options });
  }

  async of(tenant: string, runId: string): Promise<ResumeAnswer> {
    try {
      return resumedOf(await this.ledger.ask({ method: 'GET', ...askOfRun(runId, 'resume', { tenant }) }));
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }
}

/** Code of the ledger for a run of which it has nothing, its rows read to the end. */
const UNRECORDED = 'RUN_UNKNOWN';

/** What an answer of the ledger's edge means; one that cannot be read in full is none. */
export function resumedOf(answer: EdgeAnswer): ResumeAnswer {
  const { status, body, from } = answer;
  if (status === 404 && body['code'] === UNRECORDED) return { kind: 'unrecorded' };
  if (status === 404) return { kind: 'unavailable', code: 'LEDGER_NOT_THERE', cause: problemOf(answer) };
  if (status !== 200) return { kind: 'unavailable', cause: problemOf(answer) };
  const parsed = resumption.safeParse(body);
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join('/')).join(', ');
    return {
      kind: 'unavailable',
      cause: new EdgeProblem('ANSWER_UNREADABLE', `these fields cannot be read: ${fields}`, { from, status }),
    };
  }
  const { checkpoint, state, state_code, rolled_back } = parsed.data;
  const evidence = parsed.data.evidence.map((each) => ({
    ...each,
    evidence: { ...each.evidence, statement: statedIn(each.evidence.statement) },
  }));
  return {
    kind: 'known',
    resumed: { checkpoint, state, stateUnavailable: state_code, evidence, rolledBack: rolled_back },
  };
}

/** What a payload holds; null where it came sealed: nobody may read it here. A statement that is no payload is itself. */
function statedIn(shown: Json): Json {
  const read = payload.safeParse(shown);
  if (!read.success) return shown;
  const { encoding, body } = read.data;
  return encoding === 'sealed' && typeof body === 'string' ? null : body;
}
