// Where a run goes on, over the ledger's HTTP edge.
//
// Shape: GET /v1/runs/<run id>/resume?tenant=<tenant> → 200 {run_id, checkpoint, state, state_code, evidence, rolled_back}, 404
// RUN_UNKNOWN when nothing of the run is on record; any other 404 is not the ledger's answer to this question. What was stated is a payload as edges show it: {content_type, encoding, key_id, sha256, body}, its body JSON.
import type { Json } from '@recourse/kernel';
import { EVIDENCE_KIND_VALUES } from '@recourse/messages';
import { z } from 'zod';
import { askEdge } from '../guard/edge.js';
import type { EdgeOptions } from '../guard/edge.js';
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
const answer = z.object({
  checkpoint: z.object({ run_id: z.string(), commit_id: z.string() }).nullable(),
  state: z.json().nullable(),
  state_code: z.enum(['no_state', 'state_unavailable']).nullable(),
  evidence: z.array(z.object({ commit_id: z.string(), rollback_id: z.string(), evidence })),
  rolled_back: z.array(z.string()),
});

/** Asks the ledger's edge where runs go on. */
export class HttpResume implements ResumeSource {
  /** `options.url`: base address of the ledger, without a slash at its end. */
  constructor(private readonly options: EdgeOptions) {}

  async of(tenant: string, runId: string): Promise<ResumeAnswer> {
    try {
      const { status, body } = await askEdge(this.options, {
        method: 'GET',
        path: `/v1/runs/${encodeURIComponent(runId)}/resume?tenant=${encodeURIComponent(tenant)}`,
      });
      return resumedOf(status, body);
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }
}

/** Code of the ledger for a run of which it has nothing, its rows read to the end. */
const UNRECORDED = 'RUN_UNKNOWN';

/** What an answer of the ledger's edge means; one that cannot be read in full is none. */
export function resumedOf(status: number, body: Readonly<Record<string, unknown>>): ResumeAnswer {
  if (status === 404 && body['code'] === UNRECORDED) return { kind: 'unrecorded' };
  if (status === 404)
    return {
      kind: 'unavailable',
      code: 'LEDGER_NOT_THERE',
      cause: new Error(`404 ${typeof body['code'] === 'string' ? body['code'] : 'without a code'}`),
    };
  const parsed = answer.safeParse(body);
  if (status !== 200 || !parsed.success)
    return {
      kind: 'unavailable',
      cause: new Error(
        `the ledger answered ${String(status)}${parsed.success ? '' : ` with ${parsed.error.issues.map(({ path }) => path.join('/')).join(', ')} unreadable`}`,
      ),
    };
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
