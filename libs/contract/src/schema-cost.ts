// How often one place of a value is judged under a schema: what a small schema asks of a large value has to have a bound, for the
// ledger judges too, and nothing else is decided meanwhile.
//
// Boundary: counts and judges nothing. Plain pointers only, as schemas of contracts have no other references (schema-refs.ts); what
// is refused elsewhere (a reference that leads nowhere, or to itself) counts for nothing here.
import { isJsonObject } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { readPointer } from './json-pointer.js';

/** Parts of a schema that judge one place, and how often each does. */
type Judges = ReadonlyMap<Part, number>;
type Part = Readonly<Record<string, Json>>;

/** Keywords whose schemas judge the same place. */
const HERE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'] as const;
/** Keywords whose schemas stand by a name of their own. */
const BY_NAME: readonly string[] = ['dependentSchemas', 'dependencies', 'patternProperties'];
/** Keywords whose schemas may judge any place one level below. */
const BELOW = ['patternProperties', 'propertyNames', 'contains', 'unevaluatedProperties', 'unevaluatedItems'] as const;
/** Keywords whose schema judges a place below that its neighbour does not name. */
const REST = ['additionalProperties', 'items', 'additionalItems'] as const;

/** Kinds of places that are looked at: a schema that fits into a contract has fewer. */
const PLACES_MAX = 5_000;
/** Parts that are looked at for a name, in all: counting has a bound as well, some tenths of a second. */
const LOOKS_MAX = 2_000_000;

/**
 * The most that any one place of a value is judged, whatever the value.
 *
 * Shape:  Infinity beyond `max`, where it grows with the depth of the value, and where nobody can tell.
 */
export function judgementsPerPlace(schema: Json, max: number): number {
  if (!isJsonObject(schema)) return 1;
  const unfolding = new Unfolding(schema, max);
  const first = unfolding.at([schema]);
  const open: Judges[] = first === null ? [] : [first];
  const seen = new Set<string>();
  let most = first === null ? Infinity : 0;
  for (let judges = open.pop(); judges !== undefined && most !== Infinity; judges = open.pop()) {
    const key = unfolding.keyOf(judges);
    if (seen.has(key)) continue;
    seen.add(key);
    most = Math.max(most, sizeOf(judges));
    for (const below of unfolding.below(judges)) {
      if (below === null || seen.size > PLACES_MAX) return Infinity;
      open.push(below);
    }
  }
  return most > max ? Infinity : most;
}

/** Writes a schema out, part by part; each part once. */
class Unfolding {
  private readonly ids = new Map<Part, number>();
  /** Null: more than anybody wants to judge; absent: not written out yet. */
  private readonly written = new Map<Part, Judges | null>();
  private looks = 0;

  constructor(
    private readonly root: Json,
    private readonly max: number,
  ) {}

  /** What judges a place to which these schemas apply; null beyond the maximum. */
  at(schemas: readonly Json[]): Judges | null {
    return this.sum(schemas.filter(isJsonObject).map((part) => [part, 1] as const));
  }

  /** What judges each kind of place below. */
  *below(judges: Judges): Iterable<Judges | null> {
    const names = new Set([...judges.keys()].flatMap(namesIn));
    this.looks += (names.size + 1) * judges.size;
    if (this.looks > LOOKS_MAX) {
      yield null;
      return;
    }
    for (const name of [...names, null]) {
      const parts = [...judges].flatMap(([part, times]) =>
        schemasBelow(part, name)
          .filter(isJsonObject)
          .map((one) => [one, times] as const),
      );
      if (parts.length > 0) yield this.sum(parts);
    }
  }

  keyOf(judges: Judges): string {
    return [...judges]
      .map(([part, times]) => `${String(this.idOf(part))}x${String(times)}`)
      .sort()
      .join();
  }

  private idOf(part: Part): number {
    const known = this.ids.get(part);
    if (known !== undefined) return known;
    this.ids.set(part, this.ids.size);
    return this.ids.size - 1;
  }

  private sum(parts: readonly (readonly [Part, number])[]): Judges | null {
    const all = new Map<Part, number>();
    let size = 0;
    for (const [part, times] of parts) {
      const judges = this.here(part);
      if (judges === null) return null;
      for (const [one, count] of judges) {
        all.set(one, (all.get(one) ?? 0) + count * times);
        size += count * times;
      }
      if (size > this.max) return null;
    }
    return all;
  }

  private here(part: Part): Judges | null {
    const known = this.written.get(part);
    if (known !== undefined) return known;
    // Whoever leads back here leads on for ever.
    this.written.set(part, null);
    const under = this.sum(
      this.schemasHere(part)
        .filter(isJsonObject)
        .map((one) => [one, 1] as const),
    );
    const judges = under === null ? null : new Map([...under, [part, (under.get(part) ?? 0) + 1] as const]);
    this.written.set(part, judges);
    return judges;
  }

  private schemasHere(part: Part): readonly Json[] {
    const { $ref: ref } = part;
    const target = typeof ref === 'string' && ref.startsWith('#') ? readPointer(this.root, ref.slice(1)) : undefined;
    return [...(target === undefined ? [] : [target]), ...HERE.flatMap((keyword) => schemasIn(part, keyword))];
  }
}

/** A schema, a list of them, or schemas by name. */
function schemasIn(part: Part, keyword: string): readonly Json[] {
  const value = part[keyword];
  if (value === undefined || value === null || typeof value !== 'object') return [];
  if (Array.isArray(value)) return value as readonly Json[];
  return BY_NAME.includes(keyword) ? Object.values(value) : [value];
}

/** Places below that a part names: members, and positions of lists. */
function namesIn({ properties, prefixItems, items }: Part): readonly string[] {
  return [
    ...(isJsonObject(properties ?? null) ? Object.keys(properties ?? {}) : []),
    ...(Array.isArray(prefixItems) ? Object.keys(prefixItems) : []),
    ...(Array.isArray(items) ? Object.keys(items) : []),
  ];
}

function schemasBelow(part: Part, name: string | null): readonly Json[] {
  const own =
    name === null ? [] : ['properties', 'prefixItems', 'items'].flatMap((keyword) => named(part[keyword], name));
  const rest =
    own.length > 0
      ? []
      : REST.flatMap((keyword) => (isJsonObject(part[keyword] ?? null) ? [part[keyword] ?? null] : []));
  return [...own, ...rest, ...BELOW.flatMap((keyword) => schemasIn(part, keyword))];
}

function named(value: Json | undefined, name: string): readonly Json[] {
  if (value === undefined || value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return [];
  return [(value as Readonly<Record<string, Json>>)[name] ?? null];
}

function sizeOf(judges: Judges): number {
  return [...judges.values()].reduce((sum, one) => sum + one, 0);
}
