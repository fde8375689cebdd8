// Keys of providers in a log whose time once lay ahead: what its times say of them is never believed for longer than is true (L1, L11).
import { describe, it } from '@jest/globals';
import { fact, harness, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  agreed,
  CALL_TIMEOUT,
  CLOSED_MANUAL,
  CONFIG,
  core,
  digest,
  leg,
  LEASE,
  MARGIN,
  markedInput,
  ref,
  terms,
  views,
} from '../recoveries.testing.js';

const SENT_AT = 20_000_000;
const SLACK = CALL_TIMEOUT + MARGIN;
const ANSWER_BY = SENT_AT + LEASE + SLACK;
const RETRY_AT = ANSWER_BY + CONFIG.backoff.baseMs;
const KEY_LIFETIME = 600_000;
const accepted = (standsAt: number, leadMs: number) =>
  fact('TimeAccepted', { stands_at: standsAt, true_now: standsAt - leadMs, by: 'mira', reason: 'a clock was ahead' });

describe.each(WAYS)('a leg in a log whose time stood, $way', ({ isRebuilt }) => {
  /** The leg goes out at SENT_AT, and nobody answers. */
  const start = (before: readonly ReturnType<typeof fact>[] = []): CoreHarness => {
    const about = { terms: terms({ key_lifetime_ms: KEY_LIFETIME }), ref: ref({ reversal_expires_at: 90_000_000 }) };
    const run = harness(core(), { isRebuilt, views: views() })
      .given(...before)
      .when(markedInput(about), SENT_AT);
    return agreed(run, SENT_AT, { digest: digest(about) });
  };

  it('that goes out for the first time repeats nothing: no lead keeps it from its worker', () => {
    start([accepted(SENT_AT, 10 * KEY_LIFETIME)]).then(
      fact('FactsObserved'),
      leg({ attempt: 1, first_dispatched_at: SENT_AT, not_after: SENT_AT + LEASE }),
    );
  });

  it('that went out while time stood is tried again for as long as its key certainly lives, less the lead', () => {
    const lead = KEY_LIFETIME - 60_000;
    start([accepted(SENT_AT, lead)])
      .whenDue(ANSWER_BY)
      .whenDue(RETRY_AT)
      .then(leg({ attempt: 2, not_after: SENT_AT + KEY_LIFETIME - lead - SLACK }));
  });

  it('that went out while time stood is a person’s once its key may be forgotten, whatever its time says', () => {
    start([accepted(SENT_AT, KEY_LIFETIME - 40_000)])
      .whenDue(ANSWER_BY)
      .whenDue(RETRY_AT)
      .then(fact('StepEscalated', { reason: 'KEY_LIFETIME_OVER' }), CLOSED_MANUAL);
  });

  it('that had gone out before its time was accepted is a person’s: nobody can say when that was', () => {
    const run = start().whenDue(ANSWER_BY);
    run.given(accepted(ANSWER_BY + 1, 1));
    run.whenDue(RETRY_AT).then(fact('StepEscalated', { reason: 'KEY_LIFETIME_OVER' }), CLOSED_MANUAL);
  });

  it('that went out after the true time had come is tried again as any other', () => {
    start([accepted(SENT_AT - 2, KEY_LIFETIME)])
      .whenDue(ANSWER_BY)
      .whenDue(RETRY_AT)
      .then(leg({ attempt: 2, first_dispatched_at: SENT_AT, not_after: RETRY_AT + LEASE }));
  });
});
