// JSON Schemas of TypeScript types, as values of them are rendered: bytes as hex, payloads as people read them.
//
// Boundary: knows types and libs/service/src/edge/render.ts; a type it cannot tell of is an error, never anything at all.
import ts from 'typescript';

const HEX = { type: 'string', pattern: '^([0-9a-f]{2})*$' };
const DEPTH_MAX = 30;
/** A mapped type of render.ts: what it maps is told of. */
const RENDERED = 'RenderedMembers';

/** Schemas of the types of one document: objects that have a name stand among its components, once each. */
export class TypeSchemas {
  #names = new Map();
  #components = new Map();

  /** `shownPayload`: the type of a payload as it is rendered. */
  constructor(checker, shownPayload) {
    this.checker = checker;
    this.shownPayload = shownPayload;
  }

  /** What was referred to, by its name. */
  get components() {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  of(type, depth = 0) {
    if (depth > DEPTH_MAX) throw new Error(`${this.checker.typeToString(type)} is too deep: has it no name?`);
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown) || this.#isAnyJson(type)) return {};
    if (type.aliasSymbol?.name === RENDERED) return this.of(type.aliasTypeArguments[0], depth);
    const simple = simpleOf(type);
    if (simple !== null) return simple;
    if (type.isUnion()) return this.#union(type, depth);
    if (type.flags & ts.TypeFlags.Object || type.isIntersection()) return this.#object(type, depth);
    throw new Error(`no schema of ${this.checker.typeToString(type)}`);
  }

  /** Literals are one enumeration, and null a type more. */
  #union(type, depth) {
    const parts = type.types.filter((part) => !(part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)));
    const isNullable = type.types.some((part) => part.flags & ts.TypeFlags.Null);
    const values = parts.filter((part) => part.isLiteral()).map(({ value }) => value);
    const flags = parts.filter((part) => part.flags & ts.TypeFlags.BooleanLiteral);
    const others = parts.filter((part) => !part.isLiteral() && !flags.includes(part));
    const told = [
      ...(values.length > 0 ? [enumeration(values)] : []),
      ...(flags.length === 2 ? [{ type: 'boolean' }] : flags.map((flag) => this.of(flag, depth))),
      ...inOrder(others.map((part) => this.of(part, depth + 1))),
    ];
    const [only, ...more] = told;
    if (only === undefined) return { type: 'null' };
    if (more.length > 0) return { anyOf: [...told, ...(isNullable ? [{ type: 'null' }] : [])] };
    return isNullable ? orNull(only) : only;
  }

  #object(type, depth) {
    const name = type.symbol?.name;
    if (name === 'Buffer' || name === 'Uint8Array') return HEX;
    if (name === 'Payload') return this.of(this.shownPayload, depth);
    if (this.checker.isArrayType(type)) return { type: 'array', items: this.of(this.#argument(type), depth + 1) };
    if (this.checker.isTupleType(type)) return this.#tuple(type, depth);
    const named = this.#nameOf(type);
    if (named === null) return this.#members(type, depth);
    if (!this.#components.has(named)) {
      this.#components.set(named, null); // it may refer to itself
      this.#components.set(named, { ...described(this.#aliasOf(type), this.checker), ...this.#members(type, 0) });
    }
    return { $ref: `#/components/schemas/${named}` };
  }

  /** Texts, numbers and lists in one: nothing but any JSON, whose type refers to itself. */
  #isAnyJson(type) {
    if (!type.isUnion()) return false;
    const has = (flag) => type.types.some(({ flags }) => flags & flag);
    return (
      has(ts.TypeFlags.String) && has(ts.TypeFlags.Number) && type.types.some((part) => this.checker.isArrayType(part))
    );
  }

  #argument(type) {
    return this.checker.getTypeArguments(type)[0];
  }

  #tuple(type, depth) {
    const parts = this.checker.getTypeArguments(type).map((part) => this.of(part, depth + 1));
    return { type: 'array', prefixItems: parts, minItems: parts.length, maxItems: parts.length };
  }

  #members(type, depth) {
    const members = asDeclared(this.checker.getPropertiesOfType(type));
    const rest = this.checker.getIndexInfoOfType(type, ts.IndexKind.String);
    if (members.length === 0 && rest !== undefined) {
      const values = this.of(rest.type, depth + 1);
      return { type: 'object', ...(Object.keys(values).length > 0 ? { additionalProperties: values } : {}) };
    }
    const told = members.map((member) => {
      const isOptional =
        Boolean(member.flags & ts.SymbolFlags.Optional) || hasUndefined(this.checker.getTypeOfSymbol(member));
      return { name: member.name, isOptional, schema: this.member(member, depth + 1) };
    });
    const required = told.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
    return {
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      properties: Object.fromEntries(told.map(({ name, schema }) => [name, schema])),
    };
  }

  /** Of one member, with what is said of it. */
  member(symbol, depth = 0) {
    return { ...described(symbol, this.checker), ...this.of(this.checker.getTypeOfSymbol(symbol), depth) };
  }

  #aliasOf(type) {
    const { aliasSymbol, aliasTypeArguments = [], symbol } = type;
    if (aliasSymbol !== undefined && aliasTypeArguments.length === 0) return aliasSymbol;
    const isInterface = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Interface) !== 0;
    return isInterface && this.checker.getTypeArguments(type).length === 0 ? symbol : undefined;
  }

  /** Two types of one name are told apart by a number; `StepDoc` is a step to whoever reads it. */
  #nameOf(type) {
    const alias = this.#aliasOf(type);
    if (alias === undefined) return null;
    const known = this.#names.get(type);
    if (known !== undefined) return known;
    const name = alias.name.replace(/^Kept|Doc$/, '');
    const taken = new Set(this.#names.values());
    const free = [name, ...Array.from({ length: taken.size + 1 }, (_, at) => `${name}${at + 2}`)];
    const found = free.find((one) => !taken.has(one));
    this.#names.set(type, found);
    return found;
  }
}

function simpleOf(type) {
  const { flags } = type;
  if (flags & ts.TypeFlags.Null) return { type: 'null' };
  if (flags & ts.TypeFlags.BooleanLiteral) return { type: 'boolean', enum: [type.intrinsicName === 'true'] };
  if (flags & (ts.TypeFlags.StringLiteral | ts.TypeFlags.NumberLiteral)) return enumeration([type.value]);
  if (flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) return { type: 'string' };
  if (flags & ts.TypeFlags.Number) return { type: 'number' };
  if (flags & ts.TypeFlags.Boolean) return { type: 'boolean' };
  return null;
}

function enumeration(values) {
  const [type, ...others] = [...new Set(values.map((value) => typeof value))];
  return { type: others.length > 0 ? [type, ...others] : type, enum: [...values].sort() };
}

// The compiler keeps parts of unions, and members that a mapped type picks, in the order it met them: any file may change that.

function inOrder(schemas) {
  return schemas
    .map((schema) => [JSON.stringify(schema), schema])
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, schema]) => schema);
}

function asDeclared(members) {
  const places = members.map((member) => {
    const declared = member.declarations?.[0];
    return { member, file: declared?.getSourceFile().fileName ?? '', at: declared?.pos ?? 0 };
  });
  return places
    .sort((a, b) => (a.file === b.file ? a.at - b.at : a.file < b.file ? -1 : 1))
    .map(({ member }) => member);
}

function orNull(schema) {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'], ...(schema.enum ? { enum: [...schema.enum, null] } : {}) };
}

function hasUndefined(type) {
  return type.isUnion() && type.types.some(({ flags }) => flags & ts.TypeFlags.Undefined);
}

function described(symbol, checker) {
  const text = symbol === undefined ? '' : ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  return text === '' ? {} : { description: text };
}
