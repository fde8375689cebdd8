// What automation left to a person is closed by a person, with evidence, and is not called compensated for that (A47, A65).
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { CoreHarness } from '@recourse/testing';
import { fact, harness, WAYS } from '@recourse/testing';
import {
  approval,
  core,
  denial,
  envelope,
  markedInput,
  resolution,
  REVIEW,
  STEP,
  views,
} from '../recoveries.testing.js';

const AT = 10_000;
const GIVEN = AT + REVIEW;

describe.each(WAYS)("an item that is a person's, $way", ({ isRebuilt }) => {
  const asked = (): CoreHarness => harness(core(), { isRebuilt, views: views() }).when(markedInput(), AT);
  /** Nobody decided in time. */
  const manual = (): CoreHarness => asked().whenDue(GIVEN);
  const doc = (run: CoreHarness): Readonly<Record<string, unknown>> | undefined => run.rows('step')[0]?.doc;

  it.each(['repaired', 'corrected', 'accepted'])(
    'is closed as %s, with who, why and evidence, and leaves the list',
    (how) => {
      const run = manual();
      expect(doc(run)).toMatchObject({ phase: 'manual', resolved: null });
      run.when(resolution(how), GIVEN + 1).then(
        fact('StepResolved', {
          step_id: STEP,
          resolution: how,
          by: 'olga',
          reason: 'called the customer',
          evidence: plainPayload({ ticket: 'T-1' }),
        }),
      );
      run.thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'resolved', resolution: how } });
      expect(doc(run)).toMatchObject({
        phase: 'resolved',
        deadline_at: null,
        due_at: null,
        resolved: { resolution: how, by: 'olga', at: GIVEN + 1 },
      });
      run.whenDue(GIVEN + 10 * REVIEW).thenNothing();
    },
  );

  it('may be one that a person denied', () => {
    const run = asked()
      .when(denial(), AT + 1)
      .when(resolution('accepted'), AT + 2);
    expect(doc(run)).toMatchObject({ phase: 'resolved' });
  });

  it('is closed once', () => {
    manual()
      .when(resolution('repaired'), GIVEN + 1)
      .when(resolution('accepted', 'omar'), GIVEN + 2)
      .then()
      .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
  });

  it.each([
    ['the one it was done for', 'ines', 'SELF_APPROVAL'],
    ['an agent', 'agent:other', 'APPROVER_NOT_A_PERSON'],
  ])('is not closed by %s', (_who, by, code) => {
    manual()
      .when(resolution('accepted', by), GIVEN + 1)
      .then()
      .thenAnswer({ httpStatus: 403, code });
  });

  it('needs a role, and a resolution that is one', () => {
    manual()
      .when(resolution('accepted', 'rita', ['viewer']), GIVEN + 1)
      .then()
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    manual()
      .when(resolution('unrecognized'), GIVEN + 1)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
  });

  it("is another tenant's to know nothing of", () => {
    manual()
      .when(
        resolution('accepted', 'eve', ['approver'], { envelope: envelope('eve', ['approver'], { tenant: 'evil' }) }),
        GIVEN + 1,
      )
      .then()
      .thenAnswer({ httpStatus: 404, code: 'STEP_UNKNOWN' });
  });

  it('that automation still has is not closed by hand: a worker could act on it', () => {
    asked()
      .when(resolution('repaired'), AT + 1)
      .then()
      .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
    asked()
      .when(approval(), AT + 1)
      .when(resolution('repaired'), AT + 2)
      .then()
      .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
  });
});
