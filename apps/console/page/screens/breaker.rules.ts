// Closing a breaker wherever it is open, partition by partition. Pure but for what it is given to send with.
import { outcomeOf } from '../api/outcome.js';
import type { Outcome } from '../api/outcome.js';
import { ApiProblem, problemOf } from '../api/problem.js';
import { counted } from '../parts/counted.js';
import { isPlace } from '../parts/names.js';

/** What is in the path and the body of the command: no address can hold a run that is called by dots alone. */
export function closingOf(run: string, reason: string) {
  return isPlace(run) ? { run_id: 'in-body', body: { reason, run_id: run } } : { run_id: run, body: { reason } };
}

/** Closes it of each run, also behind one that is refused. Errors: ApiProblem, which names each run that was. */
export async function closeEach(runs: readonly string[], close: (run: string) => Promise<Outcome>): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  const refused: (readonly [string, ApiProblem])[] = [];
  for (const run of runs) {
    try {
      outcomes.push(await close(run));
    } catch (cause) {
      refused.push([run, problemOf(cause)]);
    }
  }
  const [first] = refused;
  if (first === undefined) return outcomeOf(outcomes);
  const { code, status, detail } = first[1];
  const said = refused.map(([path, problem]) => ({ path, message: `${problem.code}: ${problem.detail}` }));
  throw new ApiProblem(
    code,
    status,
    runs.length === 1
      ? detail
      : counted(refused.length, `of ${runs.length} stays open.`, `of ${runs.length} stay open.`),
    said,
  );
}
