// The cases of the crash runs of legs: which kind of tool, at which step of the undo, and at which moment of that step. Pure.

/** Effects of a run. The last is undone first: step 1 undoes effect 11. */
export const LEG_STEPS = 11;

/** `keyed`: the tool takes idempotency keys, and all steps go in one leg. `keyless`: it takes none, and each step goes alone. */
export const TOOL_KINDS = ['keyed', 'keyless'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/**
 * Moments of one step, in their order:
 *
 *   look asked   the look before the act has come to the tool; the worker hears no answer
 *   looked       the look is answered; the worker goes on, for a few milliseconds
 *   act asked    the act has come to the tool and is lost with its caller: no effect
 *   act done     the effect is there; the worker does not hear of it
 *   verify asked the look after the act has come to the tool; the worker hears no answer
 *   verified     that look is answered; the worker goes on, for a few milliseconds
 */
export const MOMENTS = ['look asked', 'looked', 'act asked', 'act done', 'verify asked', 'verified'] as const;
export type Moment = (typeof MOMENTS)[number];

/** One kill. */
export interface LegCase {
  readonly kind: ToolKind;
  /** From 1, in the order of the undo. */
  readonly step: number;
  readonly moment: Moment;
}

/** One kill of so many meets a tool without keys, where there are no legs of several steps. */
const KEYLESS_EVERY = 4;
/** Tools without keys begin with the act: that is where nobody can know, and a few kills are to meet it. */
const KEYLESS_FROM = MOMENTS.indexOf('act asked');

/** So many kills. Each kind meets every step with every moment before it meets one again: eleven and six have no common divisor. */
export function legCases(kills: number): readonly LegCase[] {
  return Array.from({ length: kills }, (_, index): LegCase => {
    const keylessBefore = Math.floor(index / KEYLESS_EVERY);
    return (index + 1) % KEYLESS_EVERY === 0
      ? caseOf('keyless', keylessBefore, KEYLESS_FROM)
      : caseOf('keyed', index - keylessBefore, 0);
  });
}

function caseOf(kind: ToolKind, index: number, from: number): LegCase {
  const moment = MOMENTS[(index + from) % MOMENTS.length] ?? MOMENTS[0];
  return { kind, step: (index % LEG_STEPS) + 1, moment };
}

/** The effect that a step undoes, and the step that undoes an effect: the last effect comes first. */
export function mirrored(number: number): number {
  return LEG_STEPS + 1 - number;
}
