// What people may have done about a step, as the schemas tell of it: each verb of the command line, with its fields made up.
import { plainPayload } from '@recourse/contract';
import { shortName, VERBS } from '@recourse/messages';
import type { VerbField } from '@recourse/messages';

const WEIGHTS: Readonly<Record<string, number>> = { RetryStep: 50, CheckStep: 30, AbandonStep: 6 };
const WEIGHT_OF_OTHERS = 14;

const fieldsOf = new Map(
  VERBS.filter(({ id, command }) => id === 'step_id' && command !== undefined).map(({ type, fields }) => [
    shortName(type),
    fields,
  ]),
);

/** How often each is asked for. */
export const STEP_VERBS: Readonly<Record<string, number>> = {
  ...WEIGHTS,
  ...Object.fromEntries([...fieldsOf.keys()].map((type) => [type, WEIGHTS[type] ?? WEIGHT_OF_OTHERS])),
};

/** What somebody says with one; `chance` in [0, 1) picks among words. */
export function saidWith(type: string, chance: number): Readonly<Record<string, unknown>> {
  return Object.fromEntries((fieldsOf.get(type) ?? []).map((field) => [field.name, valueOf(field, chance)]));
}

function valueOf({ kind, values = [], nullable }: VerbField, chance: number): unknown {
  if (nullable) return null;
  if (kind === 'enum') return values[Math.floor(chance * values.length)];
  return kind === 'json' ? plainPayload({ seen: 'looked' }) : 'once more';
}
