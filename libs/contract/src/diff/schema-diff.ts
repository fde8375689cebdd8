// Schemas of arguments: whether a change lets more through than before.
import type { Json } from '@recourse/kernel';
import { typesIn } from '../json-pointer.js';
import { difference, keys, member, same } from './comparers.js';
import type { Comparer, Difference, DifferenceKind } from './comparers.js';

const ANNOTATIONS: readonly string[] = [
  '$schema',
  '$id',
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
/** Objects of schemas, by name. */
const NAMED: readonly string[] = ['properties', '$defs', 'definitions', 'patternProperties'];
const DEPTH_MAX = 32;

/**
 * Compares two schemas of arguments.
 *
 * Shape:  wider bounds, fewer demands and a change nobody can weigh count as weakening; a new property is neutral. What is no longer
 *         said of a property or a pattern counts by whether the schema lets in what it does not name.
 */
export const argsSchema: Comparer = (from, to, path) =>
  from === undefined || to === undefined ? [] : compare(from, to, path, 0);

function compare(from: Json, to: Json, path: string, depth: number): readonly Difference[] {
  if (same(from, to)) return [];
  if (depth > DEPTH_MAX || keys(from).length + keys(to).length === 0)
    return [difference(path, 'weakening', { from, to }, 'nothing shows that the schema is as strict')];
  const closed = { wasClosed: isClosed(from), isClosed: isClosed(to) };
  return [...new Set([...keys(from), ...keys(to)])]
    .filter((keyword) => !ANNOTATIONS.includes(keyword))
    .flatMap((keyword) =>
      keywordOf(
        keyword,
        { from: member(from, keyword), to: member(to, keyword), ...closed },
        `${path}/${keyword}`,
        depth,
      ),
    );
}

/** Does it refuse what it does not name? */
function isClosed(schema: Json): boolean {
  return ['additionalProperties', 'unevaluatedProperties'].some((keyword) => member(schema, keyword) === false);
}

interface Change {
  readonly from: Json | undefined;
  readonly to: Json | undefined;
  /** Whether the schema around it refused what it did not name, and whether it does now. */
  readonly wasClosed: boolean;
  readonly isClosed: boolean;
}

function keywordOf(keyword: string, change: Change, path: string, depth: number): readonly Difference[] {
  const { from, to } = change;
  if (same(from, to) || (keyword === 'type' && isSameType(change))) return [];
  if (NAMED.includes(keyword)) return named(keyword, change, path, depth);
  if ((keyword === 'items' || keyword === 'additionalProperties') && typeof from === 'object' && typeof to === 'object')
    return compare(from, to, path, depth + 1);
  const kind = weigh(keyword, change);
  return [
    difference(
      path,
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

function weigh(keyword: string, { from, to }: Change): DifferenceKind {
  if (UPPER.includes(keyword))
    return bound(from, Number.POSITIVE_INFINITY) > bound(to, Number.POSITIVE_INFINITY) ? 'strengthening' : 'weakening';
  if (LOWER.includes(keyword))
    return bound(from, Number.NEGATIVE_INFINITY) < bound(to, Number.NEGATIVE_INFINITY) ? 'strengthening' : 'weakening';
  if (keyword === 'type') return takesNoMore(typesIn(to), typesIn(from)) ? 'strengthening' : 'weakening';
  if (ALLOWING.includes(keyword))
    return from === undefined || (to !== undefined && within(to, from)) ? 'strengthening' : 'weakening';
  if (DEMANDING.includes(keyword)) return within(from ?? [], to ?? []) ? 'strengthening' : 'weakening';
  if (keyword === 'additionalProperties') return to === false ? 'strengthening' : 'weakening';
  return from === undefined ? 'strengthening' : 'weakening';
}

/** Names that both have are compared; what a name that is new or gone means, its keyword says. */
function named(keyword: string, change: Change, path: string, depth: number): readonly Difference[] {
  return [...new Set([...keys(change.from), ...keys(change.to)])].flatMap((name) => {
    const [from, to] = [member(change.from, name), member(change.to, name)];
    if (from !== undefined && to !== undefined) return compare(from, to, `${path}/${name}`, depth + 1);
    const { kind, reason } = oneSided(keyword, { ...change, from, to });
    return [difference(`${path}/${name}`, kind, { from, to }, reason)];
  });
}

interface Weighed {
  readonly kind: DifferenceKind;
  readonly reason: string;
}

function oneSided(keyword: string, change: Change): Weighed {
  if (keyword === 'properties') return propertyAlone(change);
  if (keyword === 'patternProperties') return patternAlone(change);
  return { kind: 'neutral', reason: 'a definition comes or goes; its uses are compared where they stand' };
}

/** A property that is new, or that is refused from now on, is a change of shape: what may be in it, its own schema says. */
function propertyAlone({ from, to, isClosed: isRefused }: Change): Weighed {
  if (to !== undefined) return { kind: 'neutral', reason: 'an argument is added' };
  return isRefused || from === true || same(from, {})
    ? { kind: 'neutral', reason: 'an argument is gone' }
    : { kind: 'weakening', reason: 'nothing is said of an argument any more, and anything may be in it' };
}

/** A pattern lets names into a closed schema, and asks something of those of an open one. */
function patternAlone({ to, wasClosed, isClosed: isRefused }: Change): Weighed {
  const isAdded = to !== undefined;
  const isWeaker = isAdded ? wasClosed : !isRefused;
  const what = isAdded ? 'names of a pattern are spoken of' : 'nothing is said of names of a pattern any more';
  return isWeaker
    ? { kind: 'weakening', reason: `${what}, which lets more through` }
    : { kind: 'strengthening', reason: `${what}, which lets less through` };
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
