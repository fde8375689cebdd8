// Validated input: a zod schema per request, every problem at once, each with its path.
import { isRunId, isTenant, RUN_BYTES_MAX } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { z } from 'zod';
import { inputWords } from './input-words.js';
import { EdgeRefusal } from './problem.js';

/** Longest id that the edge takes, UTF-16 units: of three octets each they fit what a database indexes (512). */
export const ID_LENGTH_MAX = 170;

const isWellFormed = (text: string): boolean => text.isWellFormed();
const WELL_FORMED = 'must be well-formed Unicode: no half of a pair of surrogates';

/** Text of ids, keys and names: no control characters, at most 512 bytes in the worst case. */
export const idText = z
  .string()
  .min(1)
  .max(ID_LENGTH_MAX)
  // eslint-disable-next-line no-control-regex -- refusing control characters is what this is for
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not hold control characters')
  .refine(isWellFormed, WELL_FORMED);
/** The id of a run, as wires take it. */
export const runText = z
  .string()
  .min(1)
  .max(RUN_BYTES_MAX)
  .refine(isRunId, `must be well-formed Unicode of at most ${String(RUN_BYTES_MAX)} bytes, without NUL`);
/** How the data of a run is named, where an action names no subject. */
const SUBJECT_BYTES_MAX = 'run/'.length + RUN_BYTES_MAX;
/** Whose data it is: whatever an agent may name a run, or nobody could have that of `run/<run id>` erased. */
export const subjectText = z
  .string()
  .min(1)
  .max(SUBJECT_BYTES_MAX)
  .refine(
    (text) => text.isWellFormed() && !text.includes('\0') && Buffer.byteLength(text) <= SUBJECT_BYTES_MAX,
    `must be well-formed Unicode of at most ${String(SUBJECT_BYTES_MAX)} bytes, without NUL`,
  );
const TENANT_FORM = 'must name a tenant: no blanks around it, no control characters';
/** The tenant something is about; `*` stands for all, where somebody may name all. */
export const tenantText = z
  .string()
  .max(ID_LENGTH_MAX)
  .refine((text) => text === '*' || isTenant(text), { message: TENANT_FORM, params: { code: 'TENANT_INVALID' } });
/** What a person writes, up to so many characters. */
export const runningText = (lengthMax: number): z.ZodString =>
  z
    .string()
    .min(1)
    .max(lengthMax)
    // eslint-disable-next-line no-control-regex -- NUL is the one character PostgreSQL cannot hold
    .regex(/^[^\u0000]*$/, 'must not hold NUL')
    .refine(isWellFormed, WELL_FORMED);
/** What a person writes as a reason. */
export const reasonText = runningText(2_000);
/** A number from the least one up that a record can hold: the writer of Avro takes none that is not followed by a safe one. */
export const wholeFrom = (least: number): z.ZodNumber =>
  z
    .number()
    .int()
    .min(least)
    .max(Number.MAX_SAFE_INTEGER - 1);
export const wholeNumber = wholeFrom(0);
/** Epoch milliseconds of an instant that a calendar has. */
export const instant = z.number().int().min(0).max(8.64e15);
export const hashHex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');

/** Any JSON: what was read from a body is some already, so that nothing of it is looked at again. */
export const anyJson = z.custom<Json>((given) => given !== undefined, 'is missing: it may be any JSON');

/** What a part may hold, and how it is refused where it holds more. */
export interface Bound {
  readonly sizeOf: (given: unknown) => number;
  readonly max: number;
  readonly message: string;
  readonly code?: string;
}

/** Entries of a list, or members of an object; none of whatever is neither. */
export function entriesIn(given: unknown): number {
  if (Array.isArray(given)) return given.length;
  return typeof given === 'object' && given !== null ? Object.keys(given).length : 0;
}

/** Refuses what holds more than it may before any of it is looked at: what is wrong with each of ten thousand takes long to find. */
export function bounded<Of extends z.ZodType>({ sizeOf, max, message, code }: Bound, part: Of): z.ZodPreprocess<Of> {
  return z.preprocess((given, context) => {
    if (sizeOf(given) > max) context.addIssue({ code: 'custom', message, params: { code } });
    return given;
  }, part);
}

/** Most problems of a request that are told: more nobody reads, and each would be sent back with its path. */
const TOLD_MAX = 100;
/** Longest path that is told, characters: a member of a map has any name. */
const PATH_MAX = 300;

/** `named`: what the input is called where it is no object of members. Errors: EdgeRefusal(INPUT_INVALID) with its problems. */
export function parse<T>(schema: z.ZodType<T>, input: unknown, named: string | null = null): T {
  const parsed = schema.safeParse(input, { error: inputWords });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const problems = issues.slice(0, TOLD_MAX).map((issue) => ({
    code: codeOf(issue),
    message: issue.message,
    path: pathOf([...(named === null ? [] : [named]), ...issue.path.map(String)]),
  }));
  const words = problems.map(({ path, message }) => `${path}: ${message}`);
  if (issues.length > TOLD_MAX) words.push(`and ${String(issues.length - TOLD_MAX)} more`);
  throw new EdgeRefusal('INPUT_INVALID', words.join('; '), problems);
}

function pathOf(names: readonly string[]): string {
  const path = `/${names.join('/')}`;
  return path.length > PATH_MAX ? `${path.slice(0, PATH_MAX).toWellFormed()}…` : path;
}

/** The code a check of ours names, or the kind of what is wrong. */
function codeOf(issue: z.core.$ZodIssue): string {
  const named: unknown = issue.code === 'custom' ? issue.params?.['code'] : undefined;
  return typeof named === 'string' ? named : issue.code.toUpperCase();
}

/** JSON schema of an input, for the OpenAPI page. What refers to itself, as any JSON does, is anything there. */
export function openApiSchema(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const {
    $schema: _dialect,
    $defs: _cycles,
    ...rest
  } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, withoutReferences(member)]));
}

/** A reference leads to the definitions of its own schema, which have no place inside a document of many. */
function withoutReferences(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(withoutReferences);
  if ('$ref' in part) return {};
  return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, withoutReferences(member)]));
}
