// What a record may hold so that whoever reads its wire can keep it (L7). Told before it leaves, and judged again where it comes in.
//
// Boundary: pure. Bytes count; payloads are bytes, and bounded by the size of the record.

/** Longest key and identifier that the database indexes, bytes (L7). */
export const KEY_BYTES_MAX = 512;
/** Longest running text in a field, bytes; payloads are bytes and bounded by the record size. */
export const TEXT_BYTES_MAX = 64 * 1024;
/** Largest wire record that is decided, bytes (docs/design/edge.md); larger ones are parked with their hash. */
export const WIRE_RECORD_BYTES_MAX = 256 * 1024;

/** Text below this many UTF-16 units is below every limit in bytes. */
const SHORT_TEXT = 100;

/** Fields that hold running text; all other text is an identifier. */
const RUNNING_TEXT: ReadonlySet<string> = new Set([
  'body',
  'answer',
  'reason',
  'detail',
  'objective',
  'effect',
  'residue',
  'runbook',
  'stale_condition',
  'success_condition',
  'together',
]);

/** What cannot be kept, and where. */
export interface StorageProblem {
  readonly reason: string;
  readonly detail: string;
}

/**
 * Finds text the projection could not store (L7): NUL, oversized keys and identifiers, lone surrogates.
 *
 * Errors: none; null when everything can be stored.
 */
export function findStorageProblem(key: string, body: Readonly<Record<string, unknown>>): StorageProblem | null {
  return keyProblem(key) ?? (isPlain(body) ? null : memberProblem(body, ''));
}

/** True for short, clean text throughout, which is what nearly every record holds: no path need be built for it. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return isPlainText(value);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  const members = value as Readonly<Record<string, unknown>>; // any object can be read by name
  for (const name in members) if (!isPlain(members[name])) return false;
  return true;
}

function isPlainText(text: string): boolean {
  return text.length < SHORT_TEXT && !text.includes('\u0000') && text.isWellFormed();
}

function keyProblem(key: string): StorageProblem | null {
  if (key.length === 0)
    return { reason: 'KEY_MISSING', detail: 'the record has no key; send the key the topic catalogue names' };
  if (key.includes('\u0000')) return { reason: 'NUL_IN_TEXT', detail: 'the key contains NUL' };
  if (Buffer.byteLength(key) > KEY_BYTES_MAX)
    return { reason: 'KEY_TOO_LONG', detail: `the key has more than ${KEY_BYTES_MAX} bytes` };
  return null;
}

function memberProblem(value: unknown, path: string): StorageProblem | null {
  if (typeof value === 'string') return textProblem(value, path);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = memberProblem(member, `${path}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

/** The field a path ends in; what stands in a list is of the field of the list. */
function fieldOf(path: string): string {
  const field = path.replace(/(?:\/\d+)+$/u, '');
  return field.slice(field.lastIndexOf('/') + 1);
}

function textProblem(text: string, path: string): StorageProblem | null {
  if (isPlainText(text)) return null;
  if (text.includes('\u0000')) return { reason: 'NUL_IN_TEXT', detail: `${path} contains NUL` };
  if (!text.isWellFormed()) return { reason: 'TEXT_MALFORMED', detail: `${path} is not well-formed Unicode` };
  const limit = RUNNING_TEXT.has(fieldOf(path)) ? TEXT_BYTES_MAX : KEY_BYTES_MAX;
  return Buffer.byteLength(text) > limit
    ? { reason: 'TEXT_TOO_LONG', detail: `${path} has more than ${limit} bytes` }
    : null;
}
