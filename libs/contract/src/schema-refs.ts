// What a reference of a contract's schema means: a JSON pointer to a schema within the same schema, and nothing else. Whoever counts what
// judging costs, compares two versions or judges then reads one and the same place.
//
// Boundary: reads no more than where schemas and references stand. A property may be called `$id`; what a value may be (const, enum) is
// no schema.
//
// Invariants
//   R1. Nothing but the root says what `#` is: no name, anchor or dialect stands below it.
//   R2. A reference is the text of the pointer to a place where a schema stands, so it needs no decoding.
//   R3. Whatever the validator takes for a schema is looked at here, remarks included.
import { isJsonObject } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { pointerOf } from './json-pointer.js';

type Part = Readonly<Record<string, Json>>;
/** The root is at ''. */
type Places = ReadonlyMap<string, Part>;

/** Keywords that have `#` mean something else, or that are a second way to refer; the root may have the first two. */
const ELSEWHERE: readonly string[] = [
  ...['$id', '$schema', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef', '$vocabulary'],
];
/** Keywords whose members have names that people choose. */
const BY_NAME: readonly string[] = [
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'],
  'dependentRequired',
];
/** Keywords that hold values, in which nobody looks for schemas. */
const VALUES: readonly string[] = ['const', 'enum', 'default', 'required'];
/** Names without signs that a reader of addresses decodes, cuts off or does not see. */
const POINTER = /^#(?:\/[^/%#\p{C}\p{Zl}\p{Zp}]+)*$/u;
const DIALECTS = {
  'draft-07': /^http:\/\/json-schema\.org\/draft-07\/schema#?$/,
  '2020-12': /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
} as const;
const WRITE = 'write it as #/$defs/<name>, without percent signs';

/** The dialect that `$schema` names, 2020-12 without one; null for any other. */
export function dialectOf(name: Json | undefined): keyof typeof DIALECTS | null {
  if (name === undefined) return '2020-12';
  if (typeof name !== 'string') return null;
  if (DIALECTS['draft-07'].test(name)) return 'draft-07';
  return DIALECTS['2020-12'].test(name) ? '2020-12' : null;
}

/** What is wrong with the references of a schema, and with what they are read against; each with its place. */
export function refProblems(schema: Json): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const places = new Map(placesIn(schema, ''));
  return [...rootProblems(schema), ...[...places].flatMap(([place, part]) => problemsAt(place, part, places))];
}

function rootProblems({ $id: id, $schema: dialect }: Part): readonly string[] {
  return [
    ...(id === undefined || typeof id === 'string' ? [] : ['/$id: the name of a schema is a text']),
    ...(dialectOf(dialect) === null ? ['/$schema: there are draft 2020-12 and draft-07'] : []),
  ];
}

function problemsAt(place: string, part: Part, places: Places): readonly string[] {
  const own = Object.keys(part).filter(
    (keyword) => ELSEWHERE.includes(keyword) && !(place === '' && ['$id', '$schema'].includes(keyword)),
  );
  const named = BY_NAME.flatMap((keyword) => {
    const members = part[keyword];
    if (members === undefined || !isJsonObject(members)) return [];
    // A text is no schema, so it is no property of this name either.
    return ELSEWHERE.filter((name) => typeof members[name] === 'string').map((name) => `${keyword}/${name}`);
  });
  return [
    ...[...own, ...named].map(
      (keyword) =>
        `${place}/${keyword}: only the root has a name or a dialect; to refer to a schema, write $ref: #/$defs/<name>`,
    ),
    ...(Object.hasOwn(part, '$ref') ? refProblem(part['$ref'] ?? null, `${place}/$ref`, places) : []),
  ];
}

function refProblem(ref: Json, place: string, places: Places): readonly string[] {
  if (typeof ref !== 'string' || !POINTER.test(ref))
    return [`${place}: ${JSON.stringify(ref)} is no plain pointer; ${WRITE}`];
  return places.has(ref.slice(1)) ? [] : [`${place}: ${ref} leads nowhere, or to no schema; ${WRITE}`];
}

/** Each place where a schema stands, or may be taken to. */
function* placesIn(part: Part, place: string): Generator<readonly [string, Part]> {
  yield [place, part];
  for (const [keyword, value] of Object.entries(part)) {
    if (value === null || typeof value !== 'object' || VALUES.includes(keyword)) continue;
    if (keyword === 'examples' && Array.isArray(value)) continue;
    const under = `${place}${pointerOf([keyword])}`;
    const isMany = BY_NAME.includes(keyword) || Array.isArray(value);
    if (!isMany && isJsonObject(value)) yield* placesIn(value, under);
    if (!isMany) continue;
    for (const [name, one] of Object.entries(value) as readonly (readonly [string, Json])[])
      if (isJsonObject(one)) yield* placesIn(one, `${under}${pointerOf([name])}`);
  }
}
