// Schemas of arguments: whether a change lets more through than before.
import { isJsonObject } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { typesIn } from '../json-pointer.js';
import { dialectOf } from '../schema-refs.js';
import { difference, keys, member, same } from './comparers.js';
import type { Comparer, Difference, DifferenceKind } from './comparers.js';
import { isClosed, lettingOff } from './let-in.js';

/** What nobody judges by. No names of schemas: they have references lead elsewhere. */
const ANNOTATIONS: readonly string[] = [
  '$comment',
  'title',
  'description',
  'examples',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
];
/** More of it lets more through. */
const UPPER: readonly string[] = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
/** Less of it lets more through. */
const LOWER: readonly string[] = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
/** Lists of which each entry lets something through. */
const ALLOWING: readonly string[] = ['enum'];
/** Lists of which each entry demands something. */
const DEMANDING: readonly string[] = ['required'];
/** Keywords that let less through where they are new, whatever stands beside them. */
const JUDGING: readonly string[] = [
  ...['const', 'pattern', 'multipleOf', 'uniqueItems', 'maxContains', 'propertyNames', 'dependentRequired', 'not'],
  ...['format', 'contentEncoding', 'contentMediaType'],
];
/** The same, unless something is said of what nobody has spoken of: they speak of more. */
const SPEAKING: readonly string[] = [
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'],
  ...['items', 'additionalItems', 'contains', 'unevaluatedItems', 'unevaluatedProperties'],
];
const UNSPOKEN: readonly string[] = ['unevaluatedItems', 'unevaluatedProperties'];
const REMARK = /^x-/;
/** Objects of schemas, by name. */
const NAMED: readonly string[] = ['properties', '$defs', 'definitions', 'patternProperties'];
const DEPTH_MAX = 64;

/**
 * Compares two schemas of arguments.
 *
 * Shape:  wider bounds, fewer demands, a keyword nobody knows and a change nobody can weigh count as weakening; a new property is
 *         neutral, unless all that have no schema of their own were refused, or something was said of them. What is no longer said of a
 *         property or a pattern counts by whether the schema lets the same names in all the same, unasked.
 */
export const argsSchema: Comparer = (from, to, path) =>
  from === undefined || to === undefined
    ? []
    : compare(from, to, { path, depth: 0, isCounting: UNSPOKEN.some((keyword) => holds(from, keyword)) });

interface Spot {
  readonly path: string;
  readonly depth: number;
  /** Whether something is said of what no other keyword has spoken of. */
  readonly isCounting: boolean;
}

function below({ path, depth, isCounting }: Spot, name: string): Spot {
  return { path: `${path}/${name}`, depth: depth + 1, isCounting };
}

function holds(value: Json, keyword: string): boolean {
  if (value === null || typeof value !== 'object') return false;
  return Object.hasOwn(value, keyword) || Object.values(value).some((one: Json) => holds(one, keyword));
}

function compare(from: Json, to: Json, spot: Spot): readonly Difference[] {
  if (same(from, to)) return [];
  if (spot.depth > DEPTH_MAX || !isJsonObject(to) || !(isJsonObject(from) || from === true))
    return [difference(spot.path, 'weakening', { from, to }, 'nothing shows that the schema is as strict')];
  const around = { wasClosed: isClosed(from), wasRestJudged: isRestJudged(from), isLetOff: lettingOff(to) };
  return [...new Set([...keys(from), ...keys(to)])]
    .filter((keyword) => !ANNOTATIONS.includes(keyword))
    .flatMap((keyword) =>
      keywordOf(keyword, { from: member(from, keyword), to: member(to, keyword), ...around }, below(spot, keyword)),
    );
}

/** Does it say something of what it does not name, and let it in? */
function isRestJudged(schema: Json): boolean {
  return ['additionalProperties', 'unevaluatedProperties'].some((keyword) => keys(member(schema, keyword)).length > 0);
}

interface Change {
  readonly from: Json | undefined;
  readonly to: Json | undefined;
  /** Whether the schema around it refused what it did not name. */
  readonly wasClosed: boolean;
  /** Whether the schema around it said something of what it did not name. */
  readonly wasRestJudged: boolean;
  /** Whether the schema around it lets in now what was asked something by a name or a pattern, unasked. */
  readonly isLetOff: ReturnType<typeof lettingOff>;
}

function keywordOf(keyword: string, change: Change, spot: Spot): readonly Difference[] {
  const { from, to } = change;
  if (same(from, to) || (keyword === 'type' && isSameType(change))) return [];
  if (keyword === '$schema' && isSameDialect(change)) return [];
  if (NAMED.includes(keyword)) return named(keyword, change, spot);
  if ((keyword === 'items' || keyword === 'additionalProperties') && typeof from === 'object' && typeof to === 'object')
    return compare(from, to, spot);
  const kind = weigh(keyword, change, spot);
  return [
    difference(
      spot.path,
      kind,
      change,
      kind === 'strengthening'
        ? `${keyword} lets less through`
        : kind === 'neutral'
          ? `${keyword} changes the shape alone`
          : `${keyword} may let more through`,
    ),
  ];
}

function weigh(keyword: string, { from, to }: Change, { isCounting }: Spot): DifferenceKind {
  if (UPPER.includes(keyword))
    return bound(from, Number.POSITIVE_INFINITY) > bound(to, Number.POSITIVE_INFINITY) ? 'strengthening' : 'weakening';
  if (LOWER.includes(keyword))
    return bound(from, Number.NEGATIVE_INFINITY) < bound(to, Number.NEGATIVE_INFINITY) ? 'strengthening' : 'weakening';
  if (keyword === 'type') return takesNoMore(typesIn(to), typesIn(from)) ? 'strengthening' : 'weakening';
  if (ALLOWING.includes(keyword))
    return from === undefined || (to !== undefined && within(to, from)) ? 'strengthening' : 'weakening';
  if (DEMANDING.includes(keyword)) return within(from ?? [], to ?? []) ? 'strengthening' : 'weakening';
  if (keyword === 'additionalProperties') return to === false ? 'strengthening' : 'weakening';
  if (from !== undefined) return 'weakening';
  if (REMARK.test(keyword)) return 'neutral';
  return JUDGING.includes(keyword) || (SPEAKING.includes(keyword) && !isCounting) ? 'strengthening' : 'weakening';
}

/** Names that both have are compared; what a name that is new or gone means, its keyword says. */
function named(keyword: string, change: Change, spot: Spot): readonly Difference[] {
  return [...new Set([...keys(change.from), ...keys(change.to)])].flatMap((name) => {
    const [from, to] = [member(change.from, name), member(change.to, name)];
    if (from !== undefined && to !== undefined) return compare(from, to, below(spot, name));
    const isLessAsked = from !== undefined && change.isLetOff({ keyword, name, asked: from });
    const { kind, reason } = oneSided(keyword, { ...change, from, to, isLessAsked }, spot);
    return [difference(below(spot, name).path, kind, { from, to }, reason)];
  });
}

/** Of a name that one of the two does not have. */
interface OneSided extends Change {
  readonly isLessAsked: boolean;
}

interface Weighed {
  readonly kind: DifferenceKind;
  readonly reason: string;
}

function oneSided(keyword: string, change: OneSided, spot: Spot): Weighed {
  if (keyword === 'properties') return propertyAlone(change, spot);
  if (keyword === 'patternProperties') return patternAlone(change, spot);
  return { kind: 'neutral', reason: 'a definition comes or goes; its uses are compared where they stand' };
}

/** A property that is new lets in what was refused with all others, or lets it off what was asked of them; else it is a change of shape, as one that is refused from now on is. */
function propertyAlone({ to, isLessAsked, ...around }: OneSided, { isCounting }: Spot): Weighed {
  if (to === undefined)
    return isLessAsked
      ? { kind: 'weakening', reason: 'what was asked of an argument is asked no more, and it is let in all the same' }
      : { kind: 'neutral', reason: 'an argument is gone' };
  if (to === false) return { kind: 'neutral', reason: 'an argument is refused by its name' };
  if (around.wasClosed || isCounting)
    return { kind: 'weakening', reason: 'an argument is let in that was refused, as what nobody spoke of' };
  return around.wasRestJudged
    ? { kind: 'weakening', reason: 'what is said of all other arguments is not said of this one any more' }
    : { kind: 'neutral', reason: 'an argument is added' };
}

/** A pattern lets names into a closed schema, and asks something of those of an open one of which nothing else was said. */
function patternAlone({ to, wasClosed, wasRestJudged, isLessAsked }: OneSided, { isCounting }: Spot): Weighed {
  const isAdded = to !== undefined;
  const isWeaker = isAdded ? wasClosed || wasRestJudged || isCounting : isLessAsked;
  const what = isAdded ? 'names of a pattern are spoken of' : 'nothing is said of names of a pattern any more';
  return isWeaker
    ? { kind: 'weakening', reason: `${what}, which lets more through` }
    : { kind: 'strengthening', reason: `${what}, which lets less through` };
}

function isSameDialect({ from, to }: Change): boolean {
  const dialect = dialectOf(from);
  return dialect !== null && dialect === dialectOf(to);
}

/** A type stands for the list of itself, in whatever order. */
function isSameType({ from, to }: Change): boolean {
  const [before, after] = [typesIn(from), typesIn(to)];
  return before.length > 0 && before.length === after.length && after.every((type) => before.includes(type));
}

/** Whether a list of types takes nothing that another does not; an integer is a number. */
function takesNoMore(to: readonly string[], from: readonly string[]): boolean {
  if (to.length === 0) return false;
  return (
    from.length === 0 || to.every((type) => from.includes(type) || (type === 'integer' && from.includes('number')))
  );
}

function bound(value: Json | undefined, absent: number): number {
  return typeof value === 'number' ? value : absent;
}

/** Is every entry of one list in the other? */
function within(part: Json, whole: Json): boolean {
  if (!Array.isArray(part) || !Array.isArray(whole)) return false;
  return (part as readonly Json[]).every((each) => (whole as readonly Json[]).some((other) => same(each, other)));
}
