// What every placement of the detector does: the same sightings make the same triggers (E24).
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import { plainPayload } from '@recourse/contract';
import type { LegReported, ToolExecuted } from '@recourse/messages';
import { executedBody } from '../producer/producer.js';
import { createDetector } from './detector.js';
import type { Detector } from './detector.js';
import { detect } from './detector.decisions.js';
import type { DetectorRule, Sighting, SightingKind, Trigger } from './detector.messages.js';
import { sightingsOfExecution, sightingsOfReport } from './sightings.js';

export const RULES: readonly DetectorRule[] = [
  {
    name: 'still-in-stock',
    kinds: ['tool_return'],
    sources: ['inventory.*'],
    expects: 'observed.result.left >= 0',
    offender: { ref: 'warehouse/{/args/warehouse}#stocked' },
  },
  {
    name: 'arrived',
    kinds: ['verifier'],
    sources: ['shipping.track_parcel'],
    expects: 'observed.result.status == "moving"',
    offender: { ref: 'parcel/{/result/parcel}#moving', isOfRun: true },
  },
  {
    name: 'not-wrong',
    kinds: ['human', 'verifier', 'observation'],
    sources: ['asha', 'critic'],
    expects: 'observed.verdict != "wrong"',
    offender: 'named',
  },
  {
    name: 'refund-stands',
    kinds: ['observation'],
    sources: ['bank'],
    expects: 'observed.booked',
    offender: { run: '/run', commit: '/refund' },
  },
];

/** What is told on a wire: an execution, or the report of a worker. */
export type Shown =
  | { readonly type: 'ToolExecuted'; readonly body: ToolExecuted }
  | { readonly type: 'LegReported'; readonly body: LegReported };

export function reserved(callId: string, left: number | string): Shown {
  const action = {
    tenant: 'acme',
    runId: 'run-1',
    agentId: 'planner',
    initiator: null,
    objective: null,
    stepId: 's',
    callId,
    capability: 'inventory.reserve_stock',
    contractDigest: null,
    effectKey: callId,
    idempotencyKey: callId,
    subjectRef: null,
    args: { warehouse: 'east' },
    assumptionRefs: [],
  };
  return {
    type: 'ToolExecuted',
    body: executedBody('agent', action, {
      outcome: 'succeeded',
      result: { left },
      priorValue: null,
      externalTransactionRef: null,
      errorKind: null,
      committedAt: 5_000,
    }),
  };
}

export function tracked(status: string): Shown {
  const observation = {
    phase: 'verify',
    capability: 'shipping.track_parcel',
    observed: plainPayload({ parcel: 'p-1', status }),
    observed_at: 6_000,
    call: 1,
  } as const;
  const step = {
    step_id: 's',
    outcome: 'verified',
    observations: [observation],
    error_kind: null,
    detail: null,
    external_transaction_ref: null,
    calls_done: 0,
  } as const;
  return {
    type: 'LegReported',
    body: {
      leg_id: 'leg',
      tenant: 'acme',
      run_id: 'run-2',
      attempt: 1,
      lease_id: 'l',
      worker_id: 'w',
      reported_at: 6_001,
      complete: true,
      steps: [step],
    },
  };
}

/** What a record shows, as the process that told it knows it. */
export function sightingsOf(shown: Shown): readonly Sighting[] {
  return shown.type === 'ToolExecuted' ? sightingsOfExecution(shown.body) : sightingsOfReport(shown.body);
}

const seen = (kind: SightingKind, source: string, facts: Sighting['facts'], about?: Sighting['about']): Sighting => ({
  tenant: 'acme',
  runId: 'run-3',
  kind,
  source,
  facts,
  seenAt: 7_000,
  ...(about === undefined ? {} : { about }),
});

const SHOWN: readonly Shown[] = [
  reserved('c1', 3),
  reserved('c2', -1),
  reserved('c3', 'many'),
  tracked('moving'),
  tracked('lost'),
];
const PLAIN: readonly Sighting[] = [
  seen('human', 'asha', { verdict: 'wrong' }, { runId: 'run-1', commitId: 'cp_1' }),
  seen('verifier', 'critic', { verdict: 'wrong' }, { ref: 'order/1#paid', runId: 'run-3' }),
  seen('observation', 'critic', { verdict: 'right' }, { ref: 'order/1#paid' }),
  seen('observation', 'bank', { booked: false, run: 'run-1', refund: 'mut_1' }),
  seen('human', 'asha', { verdict: 'wrong' }),
  seen('human', 'asha', {}, { ref: 'order/1#paid' }),
  seen('human', 'asha', { verdict: 'wrong' }, { ref: 'commit/cp_1#stands' }),
];

/** A place a detector runs at, and what it has told. */
export interface Placement {
  /** Shows what is on a wire; resolves when it was judged. */
  readonly show: (shown: Shown) => Promise<void>;
  /** Shows what is on no wire; null where a placement reads wires alone. */
  readonly see: ((sighting: Sighting) => Promise<void>) | null;
  readonly stop: () => Promise<void>;
}

type Place = (detector: Detector) => Promise<Placement>;

const staged = async (place: Place, act: (placement: Placement) => Promise<void>): Promise<readonly Trigger[]> => {
  const told: Trigger[] = [];
  const placement = await place(
    createDetector({
      rules: RULES,
      tell: (trigger) => {
        told.push(trigger);
        return Promise.resolve();
      },
    }),
  );
  try {
    await act(placement);
  } finally {
    await placement.stop();
  }
  return told;
};
const judged = (sightings: readonly Sighting[]): readonly Trigger[] =>
  sightings.flatMap((sighting) => detect(sighting, RULES).triggers);

/** `place` puts a detector where the suite is to try it. */
export function detectorContract(name: string, place: Place): void {
  describe(`a detector ${name}`, () => runCases(CASES, () => place));
}

const CASES: Cases<Place> = {
  'makes of what tools and workers tell the triggers that the rules say': async (place) => {
    const told = await staged(place, async ({ show }) => {
      for (const shown of SHOWN) await show(shown);
    });
    expect(told).toEqual(judged(SHOWN.flatMap(sightingsOf)));
    expect(
      told.map((trigger) =>
        trigger.on === 'assumption'
          ? [trigger.statement.ref, trigger.statement.sourceKind, trigger.statement.source]
          : [],
      ),
    ).toEqual([
      ['warehouse/east#stocked', 'tool_return', 'inventory.reserve_stock'],
      ['parcel/p-1#moving', 'verifier', 'shipping.track_parcel'],
    ]);
  },

  'makes of what people, verifiers and sensors say the triggers that the rules say': async (place) => {
    const asked: Sighting[] = [];
    const told = await staged(place, async ({ see }) => {
      for (const sighting of see === null ? [] : PLAIN) {
        await see?.(sighting);
        asked.push(sighting);
      }
    });
    expect(told).toEqual(judged(asked));
    expect(judged(PLAIN)).toHaveLength(3);
  },

  'gives the same id to a trigger whose cause is shown again': async (place) => {
    const told = await staged(place, async ({ show }) => {
      for (const shown of [reserved('c2', -1), reserved('c2', -1)]) await show(shown);
    });
    expect(new Set(told.map(({ eventId }) => eventId)).size).toBe(1);
  },

  'says so where a trigger was not taken, and tells it when it is shown again': async (place) => {
    const told: Trigger[] = [];
    let failures = 1;
    const placement = await place(
      createDetector({
        rules: RULES,
        tell: (trigger) => {
          failures -= 1;
          return failures >= 0 ? Promise.reject(new Error('no broker')) : Promise.resolve(void told.push(trigger));
        },
      }),
    );
    // Whoever is asked to show it again does; what reads wires asks itself.
    await placement.show(reserved('c2', -1)).catch(() => placement.show(reserved('c2', -1)));
    await placement.stop();
    expect(told).toEqual(judged(sightingsOf(reserved('c2', -1))));
  },
};
