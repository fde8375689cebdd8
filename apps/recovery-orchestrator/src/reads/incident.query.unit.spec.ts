import { expect, it } from '@jest/globals';
import { harness, wire } from '@recourse/testing';
import {
  answered,
  BALANCE_KEPT,
  core,
  envelope,
  markedInput,
  requestIn,
  RUN,
  STEP,
  STILL_PENDING,
  terms,
  views,
  agreed,
} from '../recoveries.testing.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { timelineOf } from './incident.query.js';
import type { IncidentDoc } from '../rules/task/task.messages.js';

it('tells what happened to an incident in its order, and who did it', () => {
  const run = agreed(
    harness(core(), { views: views() }).when(markedInput({ terms: terms({ max_attempts: 1 }) }), 10_000),
    10_100,
  );
  run.when(answered(requestIn(run.outgoing()), 'unverified', [STILL_PENDING, BALANCE_KEPT]), 10_200);
  run.when(
    wire(
      'recourse.recovery-commands',
      'EscalateStep',
      {
        envelope: envelope('rita', ['reporter']),
        run_id: RUN,
        step_id: STEP,
        severity: 'sev1',
        runbook: null,
        reason: 'the money is still out',
      },
      { key: RUN },
    ),
    10_300,
  );
  // Rows of these kinds are such documents.
  const [incident, step] = [run.rows('incident')[0]?.doc as IncidentDoc, run.rows('step')[0]?.doc as StepDoc];
  expect(timelineOf(incident, step).map(({ at, what, who }) => [at, what, who])).toEqual([
    [1_000, 'the effect took hold', 'refund-agent'],
    [5_000, 'it was contradicted', 'warehouse'],
    [10_000, 'it was decided upon', null],
    [10_100, 'it was agreed to', 'olga'],
    [10_100, 'a worker was asked', null],
    [10_200, 'it was judged', null],
    [10_300, 'it became an incident', 'rita'],
  ]);
});
