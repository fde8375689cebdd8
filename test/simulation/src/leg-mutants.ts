// Mutants of legs: each switches off one rule of how a worker goes through its steps, or of what its report counts for.
import { recordOf } from '@recourse/messages';
import type { LegReported, LegRequested } from '@recourse/messages';
import type { DecideContext, Doc } from '@recourse/event-log';
import { runLeg } from '@recourse/sdk';
import type { ClaimStore, WorkerOptions } from '@recourse/sdk';
import { answering, asking, reading, RECOVERIES } from './core-mutations.js';
import type { Bias } from './bias.js';
import type { Mutation } from './mutation.js';
import { requestsChanged } from './ports.js';

const RESULTS = 'recourse.tool-results';

/** Many runs of several effects that are taken back together, by tools that often fail. */
const IN_LEGS: Bias = { profile: { toolTrouble: 0.25 }, stories: { saga: 40, person: 40 } };
/** The same, while workers are late, and come to the same request twice. */
const IN_TWO_HANDS: Bias = {
  profile: {
    toolTrouble: 0.2,
    chaos: { crash: 16, zombie: 14, freeze: 12, snapshot: 1, restore: 1, wipe: 0, clock: 1 },
    chaosEveryMs: 350,
    sendTrouble: 0.08,
  },
  stories: { saga: 40, person: 40 },
};

/** The rules, by name. */
export const LEG_MUTANTS: Readonly<Record<string, { readonly mutation: Mutation; readonly bias: Bias }>> = {
  'leg-order': {
    mutation: { leg: (leg) => (leg.kind === 'compensate' ? { ...leg, steps: leg.steps.toReversed() } : leg) },
    bias: IN_LEGS,
  },
  'leg-goes-on': { mutation: { worker: heedless }, bias: IN_LEGS },
  'leg-claim': { mutation: { claims: unclaimedLegs }, bias: IN_TWO_HANDS },
  'leg-on-its-way': {
    mutation: {
      core: (core) =>
        answering(core, 'LegReported', (real, context, input) =>
          real.decide(context, { ...input, body: { ...input.body, complete: true } }),
        ),
    },
    bias: IN_LEGS,
  },
  'leg-again': {
    mutation: {
      core: (core) =>
        asking(core, RECOVERIES, (context, input) =>
          input.source === 'timer' ? { ...context, state: scattered(context.state) } : context,
        ),
    },
    bias: IN_LEGS,
  },
};

/** Steps that stand first in every leg they went out in: nothing is ahead of them there. */
function scattered(state: DecideContext['state']): DecideContext['state'] {
  return reading(state, 'step', (doc) => {
    const legs = doc['legs'] as readonly Doc[]; // rows of this kind have a list of them
    return { ...doc, legs: legs.map((leg) => ({ ...leg, position: 0 })) };
  });
}

/** A leg is anybody's, however often it is taken; a step whose tool takes no key is claimed as it should be. */
function unclaimedLegs(kept: ClaimStore): ClaimStore {
  return {
    claim: async (claim) => {
      const answer = await kept.claim(claim);
      return claim.id.startsWith('leg_') ? 'granted' : answer;
    },
  };
}

/** A worker that goes on behind a step that was not verified, to the end of the leg. */
function heedless(options: WorkerOptions): WorkerOptions {
  const asked = new Map<string, LegRequested>();
  const carriedOn = new Map<string, Promise<LegReported>>();
  const codecs = requestsChanged(options.codecs, (leg) => {
    asked.set(placeOf(leg), leg);
    return leg;
  });
  const told = async (value: Buffer): Promise<Buffer> => {
    const report = recordOf(RESULTS, options.codecs.decodeSync(value));
    const leg = report === null ? undefined : asked.get(placeOf(report.body));
    if (report?.body.complete !== true || leg?.kind !== 'compensate') return value;
    const whole = carriedOn.get(placeOf(leg)) ?? toTheEnd(leg, report.body, options);
    carriedOn.set(placeOf(leg), whole);
    return options.codecs.encode(RESULTS, 'LegReported', await whole);
  };
  const wireProducer: WorkerOptions['kafka']['wireProducer'] = async () => {
    const producer = await options.kafka.wireProducer();
    return {
      close: () => producer.close(),
      send: async (topic, records) =>
        producer.send(
          topic,
          await Promise.all(records.map(async (record) => ({ ...record, value: await told(record.value) }))),
        ),
    };
  };
  return { ...options, codecs, kafka: { ...options.kafka, wireProducer } };
}

/** Runs what a leg did not come to, as the one who has the leg does: a second claim of it would only let it look. */
async function toTheEnd(leg: LegRequested, report: LegReported, told: WorkerOptions): Promise<LegReported> {
  const options = { ...told, claimStore: unclaimedLegs(told.claimStore) };
  const steps = [...report.steps];
  while (steps.length < leg.steps.length)
    steps.push(...(await runLeg({ ...leg, steps: leg.steps.slice(steps.length) }, options)).steps);
  return { ...report, steps };
}

function placeOf({ leg_id, attempt, lease_id }: LegRequested | LegReported): string {
  return JSON.stringify([leg_id, attempt, lease_id]);
}
