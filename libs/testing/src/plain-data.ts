// Plain readonly data in specs: freezing it, comparing part of it, saying what is not plain.

/** Freezes a value and all it holds; bytes are left alone, since they cannot be frozen. */
export function deepFreeze<T>(value: T): T {
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}

/**
 * Says where a value differs from what is expected; `null` when it does not.
 *
 * Shape:  objects are compared on the members the expectation names; lists whole; bytes by content.
 */
export function mismatch(actual: unknown, expected: unknown, path: string): string | null {
  if (Buffer.isBuffer(expected))
    return Buffer.isBuffer(actual) && actual.equals(expected) ? null : `${path}: other bytes`;
  if (Array.isArray(expected)) return listMismatch(actual, expected, path);
  if (expected !== null && typeof expected === 'object') return objectMismatch(actual, expected, path);
  return Object.is(actual, expected) ? null : `${path}: ${String(actual)} instead of ${String(expected)}`;
}

function listMismatch(actual: unknown, expected: readonly unknown[], path: string): string | null {
  if (!Array.isArray(actual)) return `${path}: not a list`;
  if (actual.length !== expected.length) return `${path}: ${actual.length} items instead of ${expected.length}`;
  return first(expected.map((item, at) => mismatch(actual[at], item, `${path}[${at}]`)));
}

function objectMismatch(actual: unknown, expected: object, path: string): string | null {
  if (actual === null || typeof actual !== 'object') return `${path}: ${String(actual)} instead of an object`;
  const members = actual as Readonly<Record<string, unknown>>; // any object can be read by name
  return first(Object.entries(expected).map(([name, value]) => mismatch(members[name], value, `${path}.${name}`)));
}

/** Says what of a row cannot be stored; `null` when all of it can. Numbers are safe integers (C3). */
export function plainProblem(value: unknown, path: string): string | null {
  if (value === null || typeof value === 'boolean' || Buffer.isBuffer(value)) return null;
  if (typeof value === 'string') return value.includes('\0') ? `${path} holds NUL` : null;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? null : `${path} is ${value}`;
  if (Array.isArray(value)) return first(value.map((item, at) => plainProblem(item, `${path}[${at}]`)));
  if (typeof value !== 'object') return `${path} is ${typeof value}`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return `${path} is an instance of a class`;
  return first(Object.entries(value).map(([name, member]) => plainProblem(member, `${path}.${name}`)));
}

function first(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}
