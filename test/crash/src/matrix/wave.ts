// One wave: a story is led to each of its points, one thing happens to one target, everything goes on, every story has to end well.
//
// Invariants
//   W1. A case counts only if the strike fell between the two things that bracket its point.
//   W2. What a wave held goes on right after the strike, before the target is back.
import type { Arena } from '../arena.js';
import { listOf, OPERATOR, pause } from '../edge.js';
import { effectsOf } from '../kill.js';
import type { EffectOnOrder } from '../kill.js';
import { verifyChains } from '../proof.js';
import { Story } from '../story.js';
import type { Links } from './links.js';
import type { MatrixCase, MatrixPoint } from './matrix.cases.js';
import { openRows } from './owned.js';
import type { HoldPlace } from './provider-gate.js';
import { strike } from './strike.js';
import type { Wave } from './waves.decisions.js';

/** What became of one case. */
export interface CaseResult extends MatrixCase {
  readonly runId: string;
  /** The strike fell on its point. */
  readonly isCounted: boolean;
  /** Reversals that the provider made. */
  readonly effects: number;
  /** `compensated`, or whose it is and why. */
  readonly end: string;
  /** From the strike to the end, milliseconds. */
  readonly backAfterMs: number;
  readonly problems: readonly string[];
}

export interface WaveResult {
  /** From the strike until the target was ready again, milliseconds. */
  readonly readyAfterMs: number;
  /** Rows of the services' lists that were open when the target was back, or in the end. */
  readonly openSeen: number;
  readonly cases: readonly CaseResult[];
  /** What does not hold and is no single case's. */
  readonly problems: readonly string[];
}

export interface WavePlace {
  readonly arena: Arena;
  readonly links: Links;
  /** Registers a story with the watch, before it begins. */
  readonly follow: (story: Story) => void;
}

/** A story and the point it is led to. */
interface Led {
  readonly point: MatrixPoint;
  readonly story: Story;
  refundId: string;
}

const HOLD_AT: Readonly<Record<MatrixPoint, HoldPlace | null>> = {
  dispatched: null,
  taken: { call: 'stale check', side: 'before' },
  'stale checked': { call: 'stale check', side: 'after' },
  'act asked': { call: 'act', side: 'before' },
  'act done': { call: 'act', side: 'after' },
  'verify asked': { call: 'verify', side: 'before' },
  'verify seen': { call: 'verify', side: 'after' },
  reported: { call: 'verify', side: 'after' },
  recorded: { call: 'verify', side: 'after' },
};
/** Within this a story comes to its point, or the case does not count. */
const POINT_WITHIN_MS = 8_000;
/** Why a person may have it: nobody can know what happened. */
const UNCERTAIN: readonly string[] = ['OUTCOME_UNKNOWN', 'KEY_LIFETIME_OVER'];

/** Plays one wave. Errors: when its stories cannot even begin, with nothing struck. */
export async function playWave(place: WavePlace, wave: Wave, number: number): Promise<WaveResult> {
  const led = await begin(place, wave, number);
  const arrived = await leadUp(place, led);
  let struckAt = 0;
  let counted: readonly boolean[] = [];
  await strike(place.arena, wave, {
    onSignal: () => {
      struckAt = Date.now();
      counted = led.map((one) => arrived && stands(place, one));
    },
    onStruck: () => {
      place.links.letAllGo();
    },
  });
  const readyAfterMs = Date.now() - struckAt;
  const during = await openRows(
    place.arena,
    led.map(({ story }) => story.runId),
  );
  const ends = await Promise.allSettled(led.map(({ story }) => story.end()));
  const effects = await effectsOf(place.arena);
  const cases = await Promise.all(
    led.map((one, index) =>
      caseOf(place, wave, { one, end: ends[index], own: effects, struckAt, wasReady: counted[index] === true }),
    ),
  );
  const after = await openRows(
    place.arena,
    led.map(({ story }) => story.runId),
  );
  const { problems } = await verifyChains(place.arena, new Set());
  return {
    readyAfterMs,
    openSeen: during.open + after.open,
    cases,
    problems: [...during.problems, ...after.problems, ...problems],
  };
}

interface Played {
  readonly one: Led;
  readonly end: PromiseSettledResult<Awaited<ReturnType<Story['end']>>> | undefined;
  /** Effects of all stories of the wave. */
  readonly own: readonly EffectOnOrder[];
  readonly struckAt: number;
  /** The story stood at its point when the strike came. */
  readonly wasReady: boolean;
}

/** What became of one story. */
async function caseOf(
  place: WavePlace,
  { action, target }: Wave,
  { one, end, own: all, struckAt, wasReady }: Played,
): Promise<CaseResult> {
  const ended = end?.status === 'fulfilled' ? end.value : null;
  const { said, problems } =
    ended === null
      ? { said: 'no end', problems: [String(end?.status === 'rejected' ? end.reason : 'it was not played')] }
      : await judged(place.arena, one.story, ended.recoverability);
  const own = all.filter(({ order }) => order === one.story.order);
  return {
    runId: one.story.runId,
    point: one.point,
    action,
    target,
    isCounted: wasReady && (await wentOnAfter(place, one, struckAt)),
    effects: countOf(own, 'reversal'),
    end: said,
    backAfterMs: ended !== null && ended.at > 0 ? Math.max(0, ended.at - struckAt) : 0,
    problems: [...problems, ...doubled(own, one.story)],
  };
}

/** Stories up to the question whether they may be taken back. */
async function begin({ arena, links, follow }: WavePlace, { points }: Wave, number: number): Promise<readonly Led[]> {
  const led = points.map((point, index): Led => ({
    point,
    story: new Story(arena.edge, `m${String(number)}-${String(index)}`),
    refundId: '',
  }));
  led.forEach(({ story }) => {
    follow(story);
  });
  await Promise.all(led.map(({ story }) => story.refund()));
  const effects = await effectsOf(arena);
  for (const one of led) {
    one.refundId = effects.find(({ order }) => order === one.story.order)?.refundId ?? '';
    links.gate.watch(one.refundId, HOLD_AT[one.point]);
  }
  await Promise.all(led.map(({ story }) => story.untilAsked()));
  return led;
}

/** Brings every story to its point; false when one did not come. The last steps are taken one after the other, as each stops somebody. */
async function leadUp({ links }: WavePlace, led: readonly Led[]): Promise<boolean> {
  const at = (point: MatrixPoint): Led | undefined => led.find((one) => one.point === point);
  const [dispatched, reported, recorded] = [at('dispatched'), at('reported'), at('recorded')];
  const steps = async (): Promise<true> => {
    await Promise.all(
      led
        .filter((one) => one !== dispatched)
        .map(async ({ story, refundId }) => {
          await story.agree();
          await links.gate.reached(refundId);
        }),
    );
    if (recorded !== undefined) {
      links.freeze('mutation-ledger');
      links.gate.letGo(recorded.refundId);
      await recorded.story.when('verdict recorded');
    }
    if (reported !== undefined) {
      links.freeze('recovery-orchestrator');
      links.gate.letGo(reported.refundId);
      await reported.story.when('leg reported');
    }
    if (dispatched !== undefined) {
      // The worker answers the look that comes before the dispatch, and does not hear of the leg.
      await links.gate.looked(dispatched.refundId);
      links.gate.watch(dispatched.refundId, { call: 'look', side: 'after' });
      await dispatched.story.agree();
      await links.gate.reached(dispatched.refundId);
      links.deafen('worker');
      links.gate.letGo(dispatched.refundId);
      await dispatched.story.when('leg requested');
    }
    return true;
  };
  return Promise.race([steps(), pause(POINT_WITHIN_MS).then(() => false)]);
}

/** Does the story stand at its point now? */
function stands({ links: { gate } }: WavePlace, { point, story, refundId }: Led): boolean {
  switch (point) {
    case 'dispatched':
      return story.hasSeen('leg dispatched') && gate.firstSeenAt(refundId) === null;
    case 'reported':
      return story.hasSeen('leg reported') && !story.hasSeen('verdict recorded');
    case 'recorded':
      return story.hasSeen('verdict recorded') && !story.hasSeen('outcome');
    default:
      return gate.isHolding(refundId);
  }
}

/** Did what follows its point come after the strike? Of calls that were held, it did: they were let go after it. */
async function wentOnAfter(
  { links: { gate } }: WavePlace,
  { point, story, refundId }: Led,
  struckAt: number,
): Promise<boolean> {
  switch (point) {
    case 'dispatched':
      return (gate.firstSeenAt(refundId) ?? 0) >= struckAt;
    case 'reported':
      return (await timeOf(story, 'verdict recorded')) >= struckAt;
    case 'recorded':
      return (await timeOf(story, 'outcome')) >= struckAt;
    default:
      return true;
  }
}

async function timeOf(story: Story, point: 'verdict recorded' | 'outcome'): Promise<number> {
  return story.hasSeen(point) ? story.when(point) : 0;
}

function doubled(own: readonly EffectOnOrder[], { order }: Story): readonly string[] {
  return (['refund', 'reversal'] as const)
    .filter((kind) => countOf(own, kind) > 1)
    .map((kind) => `order ${order} has ${String(countOf(own, kind))} effects of the kind ${kind}`);
}

function countOf(own: readonly EffectOnOrder[], kind: string): number {
  return own.filter((effect) => effect.kind === kind).length;
}

/** How it ended, and what is wrong with that: taken back, or with a person for a reason that is true. */
async function judged(
  arena: Arena,
  story: Story,
  recoverability: string,
): Promise<{ readonly said: string; readonly problems: readonly string[] }> {
  if (recoverability === 'compensated') {
    const own = (await effectsOf(arena)).filter(({ order }) => order === story.order);
    return {
      said: recoverability,
      problems:
        countOf(own, 'reversal') === 1
          ? []
          : [`run ${story.runId} is compensated, and the provider has moved nothing back`],
    };
  }
  const { body } = await arena.edge.get('orchestrator', `/v1/reviews?run_id=${story.runId}`, OPERATOR);
  const [item] = listOf(body['items']);
  const reason = typeof item?.['reason'] === 'string' ? item['reason'] : 'in no list';
  const said = `with a person: ${reason}`;
  return {
    said,
    problems:
      item !== undefined && UNCERTAIN.includes(reason)
        ? []
        : [`run ${story.runId} is ${recoverability}, ${said}: ${JSON.stringify(item?.['last'] ?? null).slice(0, 600)}`],
  };
}
