// What a worker should never say of a leg, and what reaches a leg under way: time that runs out midway, a switch.
import { describe, expect, it } from '@jest/globals';
import type { LegRequested } from '@recourse/messages';
import { fact, harness, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  AUTO,
  fallen,
  idOf,
  markOf,
  phasesOf,
  placesOf,
  reported,
  stepOf,
  switchboard,
  told,
  verdicts,
} from '../legs.testing.js';
import { core, fallenInput, legOf, requestIn, views } from '../recoveries.testing.js';

const AT = 10_000;
const AT_MAIL = { ...AUTO, adapter: 'mail' };

/** From the highest place down. */
const down = (from: number, to: number): readonly number[] =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index);

describe.each(WAYS)('a report, $way', ({ isRebuilt }) => {
  /** The last effect went through another adapter, alone: its leg is answered, and the next is out. */
  function midway(): { readonly run: CoreHarness; readonly first: LegRequested; readonly second: LegRequested } {
    const run = harness(core(), { isRebuilt, views: views() });
    run.when(fallenInput(markOf(4, { terms: AT_MAIL }), markOf(3), markOf(2), markOf(1)), AT);
    const first = requestIn(run.outgoing());
    run.when(reported(first, [told(4, 'verified')]), AT + 1);
    return { run, first, second: requestIn(run.outgoing()) };
  }

  it('under its own lease names no step of another leg: all of it is refused, what it may say included', () => {
    const { run, second } = midway();
    expect(placesOf(second)).toEqual([3, 2, 1]);
    run
      .when(reported(second, [told(4, 'verified'), told(3, 'verified')]), AT + 2)
      .then(fact('ReportRefused', { leg_id: second.leg_id, code: 'MEMBER_UNKNOWN' }));
    expect(phasesOf(run)).toMatchObject({ [idOf(3)]: 'dispatched', [idOf(4)]: 'compensated' });
  });

  it('counts from a worker of its adapter alone, where reports are signed', () => {
    const { run, second } = midway();
    const steps = [told(3, 'verified'), told(2, 'verified'), told(1, 'verified')];
    const signedAs = (role: 'worker' | 'service', ...names: readonly string[]) => ({
      ...reported(second, steps),
      speaker: { keyId: 'key', roles: [role], names, tenants: ['*'] },
    });
    const signedBy = (...names: readonly string[]) => signedAs('worker', ...names);
    run.when(signedBy('mail'), AT + 2).then(fact('ReportRefused', { leg_id: second.leg_id, code: 'WORKER_MISMATCH' }));
    expect(phasesOf(run)).toMatchObject({ [idOf(3)]: 'dispatched' });
    run
      .when(signedAs('service', 'mutation-ledger'), AT + 3)
      .then(fact('ReportRefused', { leg_id: second.leg_id, code: 'WORKER_MISMATCH' }));
    run.when(signedBy('mail', 'payments'), AT + 4);
    expect(phasesOf(run)).toMatchObject({ [idOf(3)]: 'compensated' });
  });

  it('of one leg counts under no lease of another of its run, and the other way round', () => {
    const { run, first, second } = midway();
    const steps = down(3, 1).map((place) => told(place, 'verified'));
    const crossed = [
      reported(second, steps, { lease_id: first.lease_id }),
      reported(first, steps, { lease_id: second.lease_id }),
    ];
    for (const [index, report] of crossed.entries())
      run.when(report, AT + 2 + index).then(fact('ReportRefused', { code: 'LEASE_UNKNOWN' }));
    run
      .when(reported(first, steps), AT + 9)
      .then(fact('ReportRefused', { leg_id: first.leg_id, code: 'MEMBER_UNKNOWN' }));
    expect(phasesOf(run)).toMatchObject({ [idOf(3)]: 'dispatched', [idOf(2)]: 'dispatched', [idOf(1)]: 'dispatched' });
  });

  it('of another attempt of its leg decides nothing', () => {
    const { run, second } = midway();
    run
      .when(reported(second, [told(3, 'verified')], { attempt: 2 }), AT + 2)
      .then(fact('ReportRefused', { code: 'ATTEMPT_STALE' }));
    expect(phasesOf(run)).toMatchObject({ [idOf(3)]: 'dispatched' });
  });

  it('that names nobody leaves the first step uncertain and the others waiting: whether it was begun nobody says', () => {
    const { run, second } = midway();
    run.when(reported(second, []), AT + 2).then(verdicts([3, 'uncertain'], [2, 'not_begun'], [1, 'not_begun']));
    expect(run.outgoing()).toEqual([]);
  });

  it('that passes over a step takes it for begun: what is left out is uncertain, and nothing behind it is believed less', () => {
    const { run, second } = midway();
    run
      .when(reported(second, [told(3, 'verified'), told(1, 'verified')]), AT + 2)
      .then(verdicts([3, 'compensated'], [2, 'uncertain'], [1, 'compensated']));
  });
});

describe.each(WAYS)('a leg of sixty-four steps whose fortieth is not answered in time, $way', ({ isRebuilt }) => {
  const out = () => {
    const run = harness(core(), { isRebuilt, views: views() }).when(fallen(down(64, 1)), AT);
    const request = requestIn(run.outgoing());
    const steps = [...down(64, 26).map((place) => told(place, 'verified')), told(25, 'unknown')];
    run.when(reported(request, steps), AT + 5_000);
    return { run, request };
  };
  const row = (run: CoreHarness, place: number) => run.rows('step').find(({ key }) => key === stepOf(place))?.doc ?? {};

  it('has thirty-nine undone, that one uncertain until no copy can act, and the others waiting behind it', () => {
    const { run, request } = out();
    expect(placesOf(request)).toEqual(down(64, 1));
    run.then(
      verdicts(
        ...down(64, 26).map((place) => [place, 'compensated'] as const),
        [25, 'uncertain'],
        ...down(24, 1).map((place) => [place, 'not_begun'] as const),
      ),
    );
    expect(run.outgoing()).toEqual([]);
    expect(row(run, 25)).toMatchObject({ phase: 'uncertain' });
    expect(Number(row(run, 25)['due_at'])).toBeGreaterThan(request.not_after);
  });

  it('goes on from that one in one leg, which looks first, in the same order; nobody undoes the thirty-nine again', () => {
    const { run } = out();
    const at = Number(row(run, 25)['due_at']);
    run.whenDue(at).then(legOf(...down(25, 1).map(stepOf)));
    const again = requestIn(run.outgoing());
    expect(again).toMatchObject({ attempt: 2, reconcile_first: true });
    const steps = down(25, 1).map((place) => told(place, 'verified'));
    run
      .when(reported(again, steps), at + 1)
      .then(
        verdicts(...down(25, 1).map((place) => [place, 'compensated'] as const)),
        fact('RecoveryClosed', { outcome: 'compensated' }),
      );
    const undone = run
      .records()
      .filter(({ type }) => type === 'LegSettled')
      .flatMap(({ body }) => body['members'] as readonly Readonly<Record<string, unknown>>[]) // a list by the schema
      .filter(({ outcome }) => outcome === 'compensated');
    expect(undone).toHaveLength(64);
  });
});

describe.each(WAYS)('a switch that is thrown while a leg is under way, $way', ({ isRebuilt }) => {
  const TENANT_WIDE = { over: 'tenant' } as const;
  function midway() {
    const { views: both, on, off } = switchboard();
    const run = harness(core(), { isRebuilt, views: both }).when(fallen([4, 3, 2, 1]), AT);
    const request = requestIn(run.outgoing());
    run.when(on('stop', TENANT_WIDE), AT + 1).thenNothing();
    return { run, request, on, off };
  }
  const phases = (run: CoreHarness): readonly unknown[] => [4, 3, 2, 1].map((place) => phasesOf(run)[idOf(place)]);

  it('leaves what its worker undid before it heard, and begins nothing that it did not come to', () => {
    const { run, request } = midway();
    run
      .when(reported(request, [told(4, 'verified'), told(3, 'verified')]), AT + 2)
      .then(
        verdicts([4, 'compensated'], [3, 'compensated'], [2, 'not_begun'], [1, 'not_begun']),
        fact('StepHalted', { step_id: stepOf(2), reason: 'KILL_SWITCH', owner: 'role:operator' }),
      );
    expect(run.outgoing()).toEqual([]);
    expect(phases(run)).toEqual(['compensated', 'compensated', 'halted', 'waiting']);
  });

  it('is heard where its worker says how far it has come, too', () => {
    const { run, request } = midway();
    run.when(reported(request, [told(4, 'verified')], { complete: false }), AT + 2).then(verdicts([4, 'compensated']));
    expect(phases(run)).toEqual(['compensated', 'dispatched', 'dispatched', 'dispatched']);
  });

  it('lets the rest go on in one leg once it is lifted', () => {
    const { run, request, off } = midway();
    run.when(reported(request, [told(4, 'verified'), told(3, 'verified')]), AT + 2);
    run
      .when(off('stop', TENANT_WIDE), AT + 50)
      .then(fact('HaltsReviewed', { name: 'stop' }))
      .whenDue(AT + 50)
      .then(legOf(stepOf(2), stepOf(1)));
    const again = requestIn(run.outgoing());
    run
      .when(reported(again, [told(2, 'verified'), told(1, 'verified')]), AT + 60)
      .then(verdicts([2, 'compensated'], [1, 'compensated']), fact('RecoveryClosed', { outcome: 'compensated' }));
  });

  it('does not take back what a worker did that heard nothing of it', () => {
    const { run, request } = midway();
    run
      .when(
        reported(
          request,
          [4, 3, 2, 1].map((place) => told(place, 'verified')),
        ),
        AT + 2,
      )
      .then(
        verdicts([4, 'compensated'], [3, 'compensated'], [2, 'compensated'], [1, 'compensated']),
        fact('RecoveryClosed', { outcome: 'compensated' }),
      );
  });
});
