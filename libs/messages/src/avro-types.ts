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

/** Items read of a value so far: avsc makes a cursor for each. */
const itemsRead = new WeakMap<Tap, number>();

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
  return avsc.Type.forSchema(JSON.parse(schema) as avsc.Schema, {
    omitRecordMethods: true,
    wrapUnions: 'never',
    typeHook: boundedType,
  });
}

type Schema = Parameters<typeof avsc.Type.forSchema>[0];

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
  const sum = (itemsRead.get(tap) ?? 0) + items;
  if (sum > ITEMS_MAX) throw new RangeError(`it says that it has ${String(sum)} items; ${String(ITEMS_MAX)} are read`);
  itemsRead.set(tap, sum);
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
