// Legs of several steps: which go together, what a report says of each, and what waits for what.
import { describe, expect, it } from '@jest/globals';
import type { LegRequested } from '@recourse/messages';
import { fact, harness, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  AUTO,
  called,
  fallen,
  idOf,
  markOf,
  phasesOf,
  placesOf,
  reported,
  stepOf,
  told,
  verdicts,
} from '../legs.testing.js';
import type { MarkOptions } from '../legs.testing.js';
import {
  CALL_TIMEOUT,
  core,
  fallenInput,
  LEASE,
  legOf,
  MARGIN,
  requestIn,
  terms,
  views,
  SHOWN,
} from '../recoveries.testing.js';

const AT = 10_000;
const effect = (place: number, more: MarkOptions = {}) => fallenInput(markOf(place, more));

describe.each(WAYS)('a run that fell, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  const all = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];

  it('is planned in one record and goes in one leg', () => {
    const run = start().when(fallen(all), AT);
    run.then(
      fact('RecoveryPlanned', {
        members: all.map((place) => ({ step_id: stepOf(place), decision: 'compensate_now' })),
      }),
      legOf(...all.map(stepOf)),
    );
    expect(placesOf(requestIn(run.outgoing()))).toEqual(all);
    run
      .when(
        reported(
          requestIn(run.outgoing()),
          all.map((place) => told(place, 'verified')),
        ),
        AT + 1,
      )
      .then(
        verdicts(...all.map((place) => [place, 'compensated'] as const)),
        fact('RecoveryClosed', { outcome: 'compensated' }),
      );
  });

  it('says in its plan what each step waits for', () => {
    const keyless = { ...AUTO, key_lifetime_ms: null };
    const run = start().when(fallenInput(markOf(3), markOf(2, { terms: keyless }), markOf(1)), AT);
    run.then(
      fact('RecoveryPlanned', {
        members: [
          { step_id: stepOf(3), wait: null },
          { step_id: stepOf(2), wait: { reason: 'ORDER', outstanding: [stepOf(3)] } },
          { step_id: stepOf(1), wait: { reason: 'ORDER', outstanding: [stepOf(2), stepOf(3)].sort() } },
        ],
      }),
      legOf(stepOf(3)),
    );
    expect(phasesOf(run)).toMatchObject({ [idOf(2)]: 'waiting', [idOf(1)]: 'waiting' });
  });

  it('holds the terms of each contract once, and each step its own', () => {
    const other = { ...AUTO, contract_digest: Buffer.alloc(32, 9), contract_name: 'mail.send', adapter: 'mail' };
    const run = start().when(fallenInput(markOf(3), markOf(2, { terms: other }), markOf(1)), AT);
    expect(run.recorded()[0]?.body).toMatchObject({
      contracts: [{ contract_name: AUTO.contract_name }, { contract_name: 'mail.send' }],
      members: [{ contract: 0 }, { contract: 1 }, { contract: 0 }],
    });
    const held = Object.fromEntries(run.rows('step').map(({ doc }) => [doc['mutation_id'], doc['terms']]));
    expect(held).toEqual({ [idOf(3)]: AUTO, [idOf(2)]: other, [idOf(1)]: AUTO });
  });

  it('asks people for those that need it, in the same plan', () => {
    const run = start().when(fallenInput(markOf(2), markOf(1, { terms: terms() })), AT);
    run.then(
      fact('RecoveryPlanned', { members: [{ decision: 'compensate_now' }, { decision: 'request_approval' }] }),
      legOf(stepOf(2)),
      SHOWN,
    );
  });

  it('is left alone where it was marked before', () => {
    const run = start().when(fallen([2, 1]), AT);
    run.when(fallen([2, 1]), AT + 1).thenNothing();
  });
});

describe.each(WAYS)('a leg, $way', ({ isRebuilt }) => {
  /** The last effect is under way, the others wait for it; answered, the rest goes as one leg. */
  function started(count: number, more: MarkOptions = {}) {
    const run = harness(core(), { isRebuilt, views: views() }).when(effect(count, more), AT);
    const last = requestIn(run.outgoing());
    for (let place = count - 1; place > 0; place -= 1) run.when(effect(place, more), AT);
    return { run, last };
  }
  function rest(count: number): { readonly run: CoreHarness; readonly request: LegRequested } {
    const { run, last } = started(count);
    run.when(reported(last, [told(count, 'verified')]), AT + 1);
    return { run, request: requestIn(run.outgoing()) };
  }

  it('is every step that follows, last effect first, in one request', () => {
    const { request } = rest(11);
    expect(placesOf(request)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(new Set(request.steps.map(({ call }) => call.idempotency_key)).size).toBe(10);
  });

  it('has at most 64 steps; the next begins where it ends', () => {
    const { run, request } = rest(67);
    expect(request.steps).toHaveLength(64);
    const all = placesOf(request).map((place) => told(place, 'verified'));
    run.when(reported(request, all), AT + 2);
    expect(placesOf(requestIn(run.outgoing()))).toEqual([2, 1]);
  });

  it('ends before its arguments grow too large for a record', () => {
    const { run, last } = started(4, { args: { refund_id: 're_1', note: 'x'.repeat(60_000) } });
    run.when(reported(last, [told(4, 'verified')]), AT + 1);
    expect(placesOf(requestIn(run.outgoing()))).toEqual([3, 2]);
  });

  it('holds no step of another adapter, and none of a tool that takes no key', () => {
    const keyless = { ...AUTO, key_lifetime_ms: null };
    const run = harness(core(), { isRebuilt, views: views() }).when(effect(6), AT);
    const last = requestIn(run.outgoing());
    run
      .when(effect(5), AT)
      .when(effect(4, { terms: keyless }), AT)
      .when(effect(3), AT)
      .when(effect(2, { terms: { ...AUTO, adapter: 'mail' } }), AT)
      .when(effect(1), AT);
    const legs: (readonly number[])[] = [];
    for (let request = last, at = AT + 1; ; at += 1) {
      run.when(
        reported(
          request,
          placesOf(request).map((place) => told(place, 'verified')),
        ),
        at,
      );
      if (run.outgoing().length === 0) break;
      request = requestIn(run.outgoing());
      legs.push(placesOf(request));
    }
    expect(legs).toEqual([[5], [4], [3], [2], [1]]);
    expect(run.rows('recovery')).toMatchObject([{ doc: { phase: 'closed', outcome: 'compensated' } }]);
  });

  it('holds no step that a person has to agree to, and none behind it', () => {
    const { run, last } = started(1);
    run.when(reported(last, [told(1, 'verified')]), AT + 1);
    const mixed = harness(core(), { isRebuilt, views: views() }).when(effect(4), AT);
    const first = requestIn(mixed.outgoing());
    mixed
      .when(effect(3), AT)
      .when(effect(2, { terms: terms() }), AT)
      .when(effect(1), AT)
      .when(reported(first, [told(4, 'verified')]), AT + 1);
    const second = requestIn(mixed.outgoing());
    expect(placesOf(second)).toEqual([3]);
    mixed.when(reported(second, [told(3, 'verified')]), AT + 2).then(verdicts([3, 'compensated']));
    expect(phasesOf(mixed)).toMatchObject({ [idOf(2)]: 'awaiting_approval', [idOf(1)]: 'waiting' });
  });

  it('that ended before the last goes on at once, in a leg of what it did not begin', () => {
    const { run, request } = rest(5);
    run
      .when(reported(request, [told(4, 'verified'), told(3, 'verified')]), AT + 2)
      .then(
        verdicts([4, 'compensated'], [3, 'compensated'], [2, 'not_begun'], [1, 'not_begun']),
        legOf(stepOf(2), stepOf(1)),
      );
  });

  describe('that failed midway', () => {
    const midway = (): { readonly run: CoreHarness; readonly request: LegRequested } => {
      const { run, request } = rest(5);
      run
        .when(reported(request, [told(4, 'verified'), told(3, 'failed')]), AT + 2)
        .then(verdicts([4, 'compensated'], [3, 'failed'], [2, 'not_begun'], [1, 'not_begun']));
      expect(run.outgoing()).toEqual([]);
      return { run, request };
    };

    it('leaves those behind waiting: nothing goes before the one that failed', () => {
      const { run } = midway();
      expect(phasesOf(run)).toMatchObject({ [idOf(3)]: 'retrying', [idOf(2)]: 'waiting', [idOf(1)]: 'waiting' });
      run.whenDue(AT + 2 + 1_000).then(legOf(stepOf(3), stepOf(2), stepOf(1)));
      expect(requestIn(run.outgoing())).toMatchObject({ attempt: 2, reconcile_first: true });
    });

    it('leaves those behind time for a lease before their window ends', () => {
      const endsAt = 100_000;
      const run = harness(core(), { isRebuilt, views: views() }).when(
        fallenInput(markOf(3), markOf(2), markOf(1, { endsAt })),
        AT,
      );
      run.when(reported(requestIn(run.outgoing()), [told(3, 'verified'), told(2, 'failed')]), AT + 2);
      const until = endsAt - MARGIN - CALL_TIMEOUT - LEASE;
      expect(run.rows('step').find(({ key }) => key === stepOf(1))).toMatchObject({
        dueAt: until,
        doc: { phase: 'waiting', deadline_at: until },
      });
    });

    it('does not count the attempt for those it did not reach', () => {
      const { run } = midway();
      run.whenDue(AT + 2 + 1_000);
      const again = requestIn(run.outgoing());
      run.when(reported(again, [told(3, 'verified'), told(2, 'failed')]), AT + 3_000);
      // Its second attempt, and the first that was made: one more is left to it, and none would be had the first counted.
      expect(run.rows('step').find(({ key }) => key === stepOf(2))?.doc).toMatchObject({ phase: 'retrying' });
    });

    it('goes on without the one that a person has in the end', () => {
      const { run } = midway();
      run.whenDue(AT + 2 + 1_000);
      const again = requestIn(run.outgoing());
      run
        .when(reported(again, [told(3, 'failed')]), AT + 3_000)
        .then(
          verdicts([3, 'failed'], [2, 'not_begun'], [1, 'not_begun']),
          fact('StepEscalated', { step_id: stepOf(3), reason: 'COMPENSATION_FAILED' }),
          legOf(stepOf(2), stepOf(1)),
        );
    });

    it('is believed where another copy of it went further', () => {
      const { run, request } = midway();
      run
        .when(
          reported(
            request,
            [4, 3, 2].map((place) => told(place, 'verified')),
          ),
          AT + 3,
        )
        .then(verdicts([3, 'compensated'], [2, 'compensated']), legOf(stepOf(1)));
    });
  });

  describe('under way', () => {
    it('is judged as far as it was told of, and not beyond (partial report)', () => {
      const { run, request } = rest(5);
      run
        .when(reported(request, [told(4, 'verified'), told(3, 'verified')], { complete: false }), AT + 2)
        .then(verdicts([4, 'compensated'], [3, 'compensated']));
      expect(run.outgoing()).toEqual([]);
      expect(phasesOf(run)).toMatchObject({ [idOf(2)]: 'dispatched', [idOf(1)]: 'dispatched' });
      const all = [4, 3, 2, 1].map((place) => told(place, 'verified'));
      run
        .when(reported(request, all), AT + 3)
        .then(verdicts([2, 'compensated'], [1, 'compensated']), fact('RecoveryClosed', { outcome: 'compensated' }));
    });

    it('keeps what its lease left no time for until nobody can act on it any more', () => {
      const { run, request } = rest(4);
      const answerBy = Number(run.rows('step').find(({ key }) => key === stepOf(2))?.doc['deadline_at']);
      run
        .when(reported(request, [called(3), told(2, 'refused_late')]), AT + 2)
        .then(verdicts([3, 'compensated'], [2, 'uncertain'], [1, 'uncertain']));
      expect(run.recorded()[0]?.body['members']).toMatchObject([
        {},
        ...[2, 1].map((place) => ({ step_id: stepOf(place), reason: 'NOT_REACHED', call: null, retry_at: answerBy })),
      ]);
      run
        .when(reported(request, [told(3, 'verified'), told(2, 'verified')]), AT + 3)
        .then(verdicts([2, 'compensated']));
    });

    it('tries what it did not reach again, and counts no attempt for it, however often that happens', () => {
      const { run } = rest(4);
      for (const ended of [3, 2, 1]) {
        const request = requestIn(run.outgoing());
        const [place = 0, ...left] = placesOf(request);
        const steps = [called(place), ...left.slice(0, 1).map((one) => told(one, 'refused_late'))];
        run.when(reported(request, steps), request.not_after + 1);
        expect(run.recorded()[0]).toMatchObject(
          verdicts([ended, 'compensated'], ...left.map((one) => [one, 'uncertain'] as const)),
        );
        if (left.length > 0) run.whenDue(request.not_after + CALL_TIMEOUT + MARGIN);
      }
      expect(phasesOf(run)).toMatchObject({
        [idOf(3)]: 'compensated',
        [idOf(2)]: 'compensated',
        [idOf(1)]: 'compensated',
      });
    });

    it('counts the attempt of a step that another may have begun: who came second found done what stands ahead', () => {
      const { run, request } = rest(4);
      const answerBy = Number(run.rows('step').find(({ key }) => key === stepOf(2))?.doc['deadline_at']);
      run
        .when(reported(request, [told(3, 'verified'), told(2, 'refused_late')]), AT + 2)
        .then(verdicts([3, 'compensated']));
      run.whenDue(answerBy);
      expect(run.recorded()[0]?.body['members']).toMatchObject(
        [2, 1].map((place) => ({ step_id: stepOf(place), reason: 'NO_ANSWER' })),
      );
    });

    it('counts the attempt of a step that its worker may have begun before it fell silent', () => {
      const { run, request } = rest(4);
      const answerBy = Number(run.rows('step').find(({ key }) => key === stepOf(2))?.doc['deadline_at']);
      run
        .when(reported(request, [told(3, 'verified')], { complete: false }), AT + 2)
        .then(verdicts([3, 'compensated']));
      // That another copy came too late says nothing of the one that began.
      run
        .when(reported(request, [told(2, 'refused_late')]), AT + 3)
        .then(fact('ReportRefused', { code: 'REFUSED_LATE' }));
      run.whenDue(answerBy);
      expect(run.recorded()[0]?.body['members']).toMatchObject(
        [2, 1].map((place) => ({ step_id: stepOf(place), reason: 'NO_ANSWER' })),
      );
    });

    it('is uncertain as a whole, in one record, where nobody answers, and stays in its order', () => {
      const { run, request } = rest(4);
      const answerBy = Number(run.rows('step').find(({ key }) => key === stepOf(2))?.doc['deadline_at']);
      run.whenDue(answerBy).then(verdicts([3, 'uncertain'], [2, 'uncertain'], [1, 'uncertain']));
      const retryAt = Number(run.rows('step').find(({ key }) => key === stepOf(3))?.doc['due_at']);
      run.whenDue(retryAt);
      const sent = run.records().filter(({ type, seq }) => type === 'LegDispatched' && seq > 0);
      expect(sent.length).toBeGreaterThan(2);
      expect(phasesOf(run)).toMatchObject({ [idOf(3)]: 'dispatched' });
      expect(request.attempt).toBe(1);
    });
  });

  it.each([
    ['names a step that was not sent', 'MEMBER_UNKNOWN', [4, 9]],
    ['names one twice', 'MEMBER_REPEATED', [4, 4]],
    ['names them out of order', 'MEMBER_ORDER', [3, 4]],
  ] as const)('takes no report that %s', (_what, code, places) => {
    const { run, request } = rest(5);
    run
      .when(
        reported(
          request,
          places.map((place) => told(place, 'verified')),
        ),
        AT + 2,
      )
      .then(fact('ReportRefused', { code }));
    expect(phasesOf(run)).toMatchObject({ [idOf(4)]: 'dispatched', [idOf(3)]: 'dispatched' });
  });

  it("takes no report under another leg's lease", () => {
    const { run, request } = rest(5);
    run
      .when(reported(request, [told(4, 'verified')], { lease_id: 'of another leg' }), AT + 2)
      .then(fact('ReportRefused', { code: 'LEASE_UNKNOWN' }));
  });

  it('takes a report once: again, it changes nothing', () => {
    const { run, request } = rest(3);
    const all = [2, 1].map((place) => told(place, 'verified'));
    run.when(reported(request, all), AT + 2);
    run.when(reported(request, all), AT + 3).thenNothing();
  });
});
