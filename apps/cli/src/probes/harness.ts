// Harness audit: eight outcomes of five controls each (D43 to D48; G22). Each control is one probe of the running system.
import { z } from 'zod';
import { CONTROLS, OUTCOMES } from './harness.controls.js';
import { controlOf, judged } from './probe.js';
import { countsShape, judgedShape } from './readiness.js';
import { reportOf, rolledUp } from './report.js';
import { scopeOf } from './scope.js';
import type { Seen } from './seen.js';

/** What `recourse harness audit --json` prints. */
export const harnessShape = z.strictObject({
  schema: z.literal('urn:recourse:harness-report:1'),
  ...countsShape,
  outcomes: z.array(
    z.strictObject({ outcome: z.enum(OUTCOMES), ...countsShape, controls: z.array(judgedShape).length(5) }),
  ),
});
export type HarnessReport = Readonly<z.infer<typeof harnessShape>>;

/** The forty verdicts about a system. Pure. */
export function harnessAudit(seen: Seen): HarnessReport {
  const scope = scopeOf(seen, null);
  const outcomes = OUTCOMES.map((outcome) => {
    const controls = CONTROLS[outcome].map((line) => judged(controlOf(line, `${outcome}.`), seen, scope));
    return { outcome, ...rolledUp(controls), controls: controls.map(reportOf) };
  });
  return {
    schema: 'urn:recourse:harness-report:1',
    ...rolledUp(outcomes.flatMap(({ controls }) => controls)),
    outcomes,
  };
}
