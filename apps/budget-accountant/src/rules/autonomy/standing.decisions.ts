// What an agent has earned at a kind of task: eight signals, one score, a rung, and what holds it below (D30 to D38).
//
// Boundary: pure. Whole numbers throughout (millionths), so that equality is equality and every reader counts the same.
//
// Invariants
//   E1. The rung is never above what the score reaches, nor above any cap; the lowest cap is named.
//   E2. While it is frozen it may fall and never rises (D38).
//   E3. A violation takes a rung and a safety violation all of them, whatever the score says, until its time is over (D36).
import type { AutonomyPolicy } from '@recourse/contract';
import { lowerRung, RUNGS } from '@recourse/contract';
import type { CountedSignal, Rung, Standing, Undoing } from '@recourse/messages';
import { SIGNAL_WEIGHTS, SIGNALS, WHOLE_PPM } from './autonomy.messages.js';
import type { Kept, SignalName } from './autonomy.messages.js';

/** Corrections that are kept at the most; a policy freezes long before. */
const KEPT_MAX = 100;

/** What the registry says of a kind of task. */
export interface TaskFacts {
  readonly policy: AutonomyPolicy;
  /** Version of the policy; null without one. */
  readonly version: number | null;
  /** 1.0, 0.5 or 0.0 by class (D35), in millionths: of the least reversible capability of the task. */
  readonly reversibility: Pick<CountedSignal, 'value_ppm' | 'source'>;
}

/** What a standing follows from beside its signals. */
type Grounds = Pick<
  Kept,
  'signals' | 'rung' | 'held_at' | 'held_until' | 'frozen_by' | 'frozen_at' | 'undone' | 'corrections' | 'pardoned'
>;

/** How long a person's word is kept that an effect is taken back for nothing, milliseconds: a recovery that waits for people takes days. */
const PARDONED_MS = 30 * 86_400_000;

/** What somebody who has earned nothing yet stands on. */
const NOTHING_EARNED: Grounds = {
  signals: [],
  rung: 'read',
  held_at: null,
  held_until: null,
  frozen_by: null,
  frozen_at: null,
  undone: [],
  corrections: [],
};

/** Something that happened to an agent at a task. Ids are those of mutations, or of what was told. */
export type Happening =
  | { readonly kind: 'said'; readonly signal: SignalName; readonly said: Said }
  | { readonly kind: 'violation' | 'safety_violation' | 'replay_failed' | 'frozen' | 'unfrozen' | 'elapsed' }
  | { readonly kind: 'correction' | 'compensation_verified'; readonly id: string }
  /** `isAhead`: before it is known that the effect was taken back. */
  | { readonly kind: 'false_trigger'; readonly id: string; readonly isAhead?: boolean };

/** A score, and who said it. */
export type Said = Pick<CountedSignal, 'source' | 'event_id' | 'stated_at'> & { readonly stated_ppm: number };

/** Judges anew after something happened. Instants in epoch milliseconds. */
export function reconsidered(before: Kept | null, happening: Happening, task: TaskFacts, now: number): Standing {
  const grounds = taken(before ?? NOTHING_EARNED, happening, task, now);
  return judged(grounds, task, now);
}

/** What is in force now: a policy that was tightened since counts at once, and nothing rises without a record. */
export function rungInForce(standing: Kept | null, task: TaskFacts, now: number): Pick<Standing, 'rung' | 'capped_by'> {
  if (standing === null) return { rung: 'read', capped_by: null };
  const today = judged(standing, task, now);
  const rung = lowerRung(today.rung, standing.rung);
  return { rung, capped_by: rung === today.rung ? today.capped_by : standing.capped_by };
}

function taken(grounds: Grounds, happening: Happening, task: TaskFacts, now: number): Grounds {
  const { policy } = task;
  switch (happening.kind) {
    case 'said':
      return { ...grounds, signals: withSaid(grounds.signals, happening.signal, happening.said) };
    case 'violation':
      return held(grounds, rungBelow(lowerRung(judged(grounds, task, now).rung, grounds.rung)), policy, now);
    case 'safety_violation':
      return held(grounds, 'read', policy, now);
    case 'replay_failed':
      return frozen(grounds, 'replay_failed', now);
    case 'frozen':
      return frozen(grounds, 'person', now);
    case 'unfrozen':
      return { ...grounds, frozen_by: null, frozen_at: null, corrections: [] };
    case 'correction':
      return corrected(grounds, { id: happening.id, at: now }, policy, now);
    case 'compensation_verified': {
      const undoing = { id: happening.id, at: now };
      if (isPardoned(grounds, happening.id)) return withoutPardon(grounds, happening.id);
      return corrected({ ...grounds, undone: withUndoing(grounds.undone, undoing) }, undoing, policy, now);
    }
    case 'false_trigger':
      if (happening.isAhead)
        return { ...grounds, pardoned: withUndoing(grounds.pardoned ?? [], { id: happening.id, at: now }) };
      return {
        ...grounds,
        undone: grounds.undone.filter(({ id }) => id !== happening.id),
        corrections: grounds.corrections.filter(({ id }) => id !== happening.id),
      };
    case 'elapsed':
      return grounds;
  }
}

function isPardoned({ pardoned }: Grounds, id: string): boolean {
  return pardoned?.some((one) => one.id === id) === true;
}

function withoutPardon(grounds: Grounds, id: string): Grounds {
  return { ...grounds, pardoned: (grounds.pardoned ?? []).filter((one) => one.id !== id) };
}

/** A freeze that stands keeps its reason. */
function frozen(grounds: Grounds, by: string, now: number): Grounds {
  return grounds.frozen_by === null ? { ...grounds, frozen_by: by, frozen_at: now } : grounds;
}

/** The rung it falls to is below the one in force, so an earlier violation is never made lighter by a later one. */
function held(grounds: Grounds, held_at: Rung, { hold_ms }: AutonomyPolicy, now: number): Grounds {
  return { ...grounds, held_at, held_until: Math.max(now + hold_ms, grounds.held_until ?? 0) };
}

/** Counts a correction; so many within the window are no accident any more (D37). */
function corrected(grounds: Grounds, undoing: Undoing, { corrections }: AutonomyPolicy, now: number): Grounds {
  const counted = { ...grounds, corrections: withUndoing(grounds.corrections, undoing) };
  const recent = within(counted.corrections, corrections.window_ms, now);
  return recent.length >= corrections.count ? frozen(counted, 'corrections', now) : counted;
}

function judged(given: Grounds, { policy, version, reversibility }: TaskFacts, now: number): Standing {
  const windowMs = policy.corrections.window_ms;
  const [undone, corrections] = [within(given.undone, windowMs, now), within(given.corrections, windowMs, now)];
  const pardoned = within(given.pardoned ?? [], PARDONED_MS, now);
  const isHeld = given.held_until !== null && now < given.held_until;
  const [held_at, held_until] = isHeld ? [given.held_at, given.held_until] : [null, null];
  const signals = SIGNALS.map((name) => counted(name, given.signals, { reversibility, undone, policy }));
  const score_ppm = scoreOf(signals);
  const earned = rungEarned(score_ppm, policy);
  const cap = lowestCap([
    ...policy.caps.map(({ name, rung }) => ({ name: `policy:${name}`, rung })),
    ...(held_at === null ? [] : [{ name: 'violation', rung: held_at }]),
    ...(given.frozen_by === null ? [] : [{ name: 'frozen', rung: given.rung }]),
  ]);
  const isCapped = cap !== null && cap.rung !== earned && lowerRung(cap.rung, earned) === cap.rung;
  return {
    signals,
    score_ppm,
    earned,
    rung: isCapped ? cap.rung : earned,
    capped_by: isCapped ? cap.name : null,
    held_at,
    held_until,
    frozen_by: given.frozen_by,
    frozen_at: given.frozen_at,
    undone,
    corrections,
    pardoned: pardoned.length === 0 ? null : pardoned,
    reconsider_at: soonest([held_until, ...[...undone, ...corrections].map(({ at }) => at + windowMs)]),
    policy_version: version,
  };
}

/** Sum of weights times values, in millionths: what lies below one is cut off (D32). */
export function scoreOf(signals: readonly Pick<CountedSignal, 'weight_percent' | 'value_ppm'>[]): number {
  const hundredths = signals.reduce((sum, { weight_percent, value_ppm }) => sum + weight_percent * value_ppm, 0);
  return Math.floor(hundredths / 100);
}

/** Highest rung whose threshold the score reaches; equality reaches it. */
export function rungEarned(scorePpm: number, { thresholds }: Pick<AutonomyPolicy, 'thresholds'>): Rung {
  const isReached = (rung: Rung): boolean => rung === 'read' || scorePpm >= (thresholds[rung] * WHOLE_PPM) / 1_000;
  return RUNGS.filter(isReached).at(-1) ?? 'read';
}

interface Cap {
  readonly name: string;
  readonly rung: Rung;
}

/** The lowest wins; of those alike the first (D34). */
function lowestCap(caps: readonly Cap[]): Cap | null {
  return caps.reduce<Cap | null>(
    (lowest, cap) => (lowest === null || RUNGS.indexOf(cap.rung) < RUNGS.indexOf(lowest.rung) ? cap : lowest),
    null,
  );
}

/** What counts of a signal: who says nothing of risk and impact has not shown that they are low. */
function counted(
  signal: SignalName,
  stated: readonly CountedSignal[],
  { reversibility, undone, policy }: Pick<TaskFacts, 'reversibility' | 'policy'> & Pick<Standing, 'undone'>,
): CountedSignal {
  const weight_percent = SIGNAL_WEIGHTS[signal];
  if (signal === 'reversibility')
    return { signal, weight_percent, stated_ppm: null, event_id: null, stated_at: null, ...reversibility };
  const said = stated.find((one) => one.signal === signal);
  const stated_ppm = said?.stated_ppm ?? null;
  const { source = null, event_id = null, stated_at = null } = stated_ppm === null ? {} : (said ?? {});
  const whole = stated_ppm ?? (weight_percent < 0 ? WHOLE_PPM : 0);
  const taken = signal === 'tool_reliability' ? (undone.length * policy.undone_permille * WHOLE_PPM) / 1_000 : 0;
  return { signal, weight_percent, stated_ppm, value_ppm: Math.max(0, whole - taken), source, event_id, stated_at };
}

function withSaid(signals: readonly CountedSignal[], signal: SignalName, said: Said): readonly CountedSignal[] {
  const others = signals.filter((one) => one.signal !== signal);
  return [...others, { signal, weight_percent: SIGNAL_WEIGHTS[signal], value_ppm: said.stated_ppm, ...said }];
}

function withUndoing(known: readonly Undoing[], undoing: Undoing): readonly Undoing[] {
  return [...known.filter(({ id }) => id !== undoing.id), undoing].slice(-KEPT_MAX);
}

function within(undoings: readonly Undoing[], windowMs: number, now: number): readonly Undoing[] {
  return undoings.filter(({ at }) => now < at + windowMs);
}

function rungBelow(rung: Rung): Rung {
  return RUNGS[RUNGS.indexOf(rung) - 1] ?? 'read';
}

function soonest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}
