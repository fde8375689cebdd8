// Avro types of our schemas, hardened against hostile bytes.
//
// avsc reads past the end of a buffer as zeros and checks only at the end, so a truncated or forged array count makes it
// loop (or allocate) up to 2^53 times. Counts are therefore bounded by the octets left: every item of ours takes at least
// one; and of one value no more are read than ITEMS_MAX, since compressed well a few octets stand for millions.
// Map keys named `__proto__` become ordinary keys.
import { setOwn } from '@recourse/kernel';
import avsc from 'avsc';

export type AvroType = avsc.Type;

/** The cursor avsc hands to a type's reader; these members are stable since avsc 5.0 and not in its typings. */
interface Tap {
  pos: number;
  readonly buf: Buffer;
  readLong(): number;
  readString(): string;
  skipString(): void;
}

/** Items of all arrays and maps of one value at the most; of ids, 100,000 are more than a topic takes. */
export const ITEMS_MAX = 100_000;

/** Cursor of the value that is read, and items read of it so far: avsc makes a cursor for each value, and reads one after the other. */
let reading: Tap | null = null;
let itemsRead = 0;

/** A block claims more items than octets are left. */
export class CountExceedsBytes extends RangeError {
  override readonly name = 'CountExceedsBytes';
}

interface Items {
  _read(tap: Tap): unknown;
  _skip(tap: Tap): void;
}

/**
 * Builds the type of a self-contained schema.
 *
 * Shape:  longs are numbers (beyond 2^53 - 1 reading throws), bytes and fixed are Buffers, unions are unwrapped, logical
 *         types stay their underlying number.
 * Errors: throws when the text is no valid Avro schema.
 */
export function avroType(schema: string): AvroType {
  return madeOf(JSON.parse(schema) as Schema, {}, boundedType);
}

type Schema = Parameters<typeof avsc.Type.forSchema>[0];
type Registry = NonNullable<avsc.ForSchemaOptions['registry']>;
type Hook = (schema: Schema, options: avsc.ForSchemaOptions) => avsc.Type | undefined;

function madeOf(schema: Schema, registry: Registry, typeHook: Hook): AvroType {
  return avsc.Type.forSchema(schema, { omitRecordMethods: true, wrapUnions: 'never', registry, typeHook });
}

// Types that many schemas define inside of themselves, each in the same words: one type for all, so that there is one constructor,
// one reader and one writer of it, and values of it have one shape, whichever record they are in.

/** A schema as JSON has it. */
type Node = string | readonly Node[] | Definition;
interface Definition {
  readonly type: Node;
  readonly name?: string;
  readonly fields?: readonly { readonly name: string; readonly type: Node }[];
  readonly items?: Node;
  readonly values?: Node;
}

/** Builds types of self-contained schemas as `avroType` does; records that are defined alike inside of several are one type. */
export class SharedTypes {
  readonly #known = new Map<string, { readonly type: AvroType; readonly registry: Registry }>();

  typeOf(schema: string): AvroType {
    return this.#made(JSON.parse(schema) as Node, {});
  }

  #made(schema: Node, registry: Registry): AvroType {
    const definitions = new Map<string, Definition>();
    define(schema, definitions);
    return madeOf(schema as Schema, registry, (inner, options) => {
      const record = inner as Node; // JSON of a schema
      return record !== schema && isNamedRecord(record)
        ? this.#shared(record, definitions, options)
        : boundedType(inner, options);
    });
  }

  #shared(record: Node, definitions: Definitions, options: avsc.ForSchemaOptions): AvroType {
    const text = JSON.stringify(spelledOut(record, definitions, new Set()));
    let known = this.#known.get(text);
    if (known === undefined) {
      const registry: Registry = {};
      known = { type: this.#made(JSON.parse(text) as Node, registry), registry };
      this.#known.set(text, known);
    }
    // What it defines may be named behind it.
    Object.assign(options.registry, known.registry);
    return known.type;
  }
}

type Definitions = ReadonlyMap<string, Definition>;

function isNamedRecord(node: Node): node is Definition {
  return isDefinition(node) && node.type === 'record' && node.name?.includes('.') === true;
}

function isDefinition(node: Node): node is Definition {
  return typeof node === 'object' && !Array.isArray(node);
}

/** Notes what a schema defines, by full name. */
function define(node: Node | undefined, into: Map<string, Definition>): void {
  if (node === undefined || typeof node === 'string') return;
  if (!isDefinition(node)) {
    for (const one of node) define(one, into);
    return;
  }
  if (node.name !== undefined) into.set(node.name, node);
  for (const { type } of node.fields ?? []) define(type, into);
  for (const inner of [node.type, node.items, node.values]) define(inner, into);
}

/** The same schema with each name in the place of its definition where it comes first. */
function spelledOut(node: Node, definitions: Definitions, seen: Set<string>): Node {
  if (typeof node === 'string') {
    const defined = seen.has(node) ? undefined : definitions.get(node);
    return defined === undefined ? node : spelledOut(defined, definitions, seen);
  }
  const inner = (one: Node): Node => spelledOut(one, definitions, seen);
  if (!isDefinition(node)) return node.map(inner);
  const { name, type, fields, items, values } = node;
  if (name !== undefined) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return {
    ...node,
    type: inner(type),
    ...(fields === undefined ? {} : { fields: fields.map((field) => ({ ...field, type: inner(field.type) })) }),
    ...(items === undefined ? {} : { items: inner(items) }),
    ...(values === undefined ? {} : { values: inner(values) }),
  };
}

function boundedType(schema: Schema, options: avsc.ForSchemaOptions): avsc.Type | undefined {
  if (typeof schema !== 'object' || !('type' in schema)) return undefined;
  if (schema.type === 'array') return new BoundedArray(schema, options);
  if (schema.type === 'map') return new BoundedMap(schema, options);
  if (schema.type === 'enum' && 'default' in schema) return new StrictEnum(schema, options);
  return undefined;
}

/** Count of the next block; a negative one is followed by the block's size in octets. */
function blockCount(tap: Tap): number {
  const count = tap.readLong();
  if (count < 0) tap.readLong();
  const items = Math.abs(count);
  if (items > tap.buf.length - tap.pos)
    throw new CountExceedsBytes(`${items} items in ${tap.buf.length - tap.pos} octets`);
  if (items > 0) countItems(tap, items);
  return items;
}

function countItems(tap: Tap, items: number): void {
  if (tap !== reading) [reading, itemsRead] = [tap, 0];
  itemsRead += items;
  if (itemsRead > ITEMS_MAX)
    throw new RangeError(`it says that it has ${String(itemsRead)} items; ${String(ITEMS_MAX)} are read`);
}

class BoundedArray extends avsc.types.ArrayType {
  _read(this: { readonly itemsType: Items }, tap: Tap): unknown[] {
    const values: unknown[] = [];
    for (let left = blockCount(tap); left > 0; left = blockCount(tap)) {
      for (; left > 0; left -= 1) values.push(this.itemsType._read(tap));
    }
    return values;
  }

  _skip(this: { readonly itemsType: Items }, tap: Tap): void {
    for (let left = blockCount(tap); left > 0; left = blockCount(tap)) {
      for (; left > 0; left -= 1) this.itemsType._skip(tap);
    }
  }
}

class BoundedMap extends avsc.types.MapType {
  _read(this: { readonly valuesType: Items }, tap: Tap): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (let left = blockCount(tap); left > 0; left = blockCount(tap)) {
      for (; left > 0; left -= 1) setOwn(values, tap.readString(), this.valuesType._read(tap));
    }
    return values;
  }

  _skip(this: { readonly valuesType: Items }, tap: Tap): void {
    for (let left = blockCount(tap); left > 0; left = blockCount(tap)) {
      for (; left > 0; left -= 1) {
        tap.skipString();
        this.valuesType._skip(tap);
      }
    }
  }
}

/** A symbol this build does not know. */
export class UnrecognizedSymbol extends RangeError {
  override readonly name = 'UnrecognizedSymbol';
}

interface EnumResolver {
  _read?: (tap: Tap) => unknown;
}

declare module 'avsc' {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- the typings of avsc have one
  namespace types {
    /** Members of avsc's enumeration that its typings leave out. */
    interface EnumType {
      readonly default: string;
      _read(tap: Tap): unknown;
      _update(resolver: EnumResolver, type: Type, options: unknown): void;
    }
  }
}

/**
 * An enumeration whose default stands for the symbols of newer schemas: adding one stays compatible for every reader,
 * and a service of ours refuses the record rather than guess what it says.
 */
class StrictEnum extends avsc.types.EnumType {
  /** A value for property tests: a symbol that says something. */
  override random(): this {
    const meant = this.symbols.filter((symbol) => symbol !== this.default);
    const symbol: unknown = meant[Math.floor(Math.random() * meant.length)];
    return symbol as this; // the typings say that a random value of a type is a type
  }

  override _read(tap: Tap): unknown {
    return recognized(this, super._read(tap));
  }

  override _update(resolver: EnumResolver, type: avsc.Type, options: unknown): void {
    super._update(resolver, type, options);
    const read = resolver._read;
    if (read !== undefined) resolver._read = (tap) => recognized(this, read.call(resolver, tap));
  }
}

function recognized(type: avsc.types.EnumType, symbol: unknown): unknown {
  if (symbol === type.default)
    throw new UnrecognizedSymbol(`a symbol of ${String(type.name)} that this build does not know`);
  return symbol;
}
