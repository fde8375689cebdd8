// A contract as text: reading it, writing it canonically, its digest.
import { createHash } from 'node:crypto';
import { canonicalJson, readJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { z } from 'zod';
import { pointerOf } from './json-pointer.js';
import { problem } from './problems.js';
import type { ContractProblem, ContractProblemCode } from './problems.js';
import { BODY_BYTES_MAX, contractSchema } from './shape.js';
import type { Contract, ContractDraft } from './shape.js';

export type ParsedContract =
  | { readonly ok: true; readonly contract: Contract }
  | { readonly ok: false; readonly problems: readonly ContractProblem[] };

/** A contract read as far as it can be: every problem of its shape, and the fields that have none. */
export interface ReadContract {
  readonly draft: ContractDraft;
  readonly problems: readonly ContractProblem[];
  /** Bytes of its canonical text; 0 where it is no JSON object. */
  readonly bytes: number;
}

/** Reads a contract; shape only, all problems at once. Its size is weighed when it registers (`sizeProblems`): what stands is read, however large. */
export function parseContract(body: string): ParsedContract {
  const read = readContract(body);
  // With no problem the draft went through the whole schema.
  return read.problems.length === 0
    ? { ok: true, contract: read.draft as Contract }
    : { ok: false, problems: read.problems };
}

/** Contracts kept as they were read, at the most: each is parsed, checked and read again by several rules within one decision. */
const READ_MAX = 256;
const readOf = new Map<string, ReadContract>();

/** Reads a contract and keeps what is well, so that the rules can speak about the rest in the same answer. */
export function readContract(body: string): ReadContract {
  const known = readOf.get(body);
  if (known !== undefined) return known;
  if (readOf.size >= READ_MAX) readOf.clear();
  const read = readAnew(body);
  if (body.length <= BODY_BYTES_MAX) readOf.set(body, read);
  return read;
}

function readAnew(body: string): ReadContract {
  const json = jsonOf(body);
  if (json === undefined)
    return {
      draft: {},
      problems: [
        problem('CONTRACT_NOT_JSON', '', 'the contract is not a JSON object, or nested deeper than 64 levels'),
      ],
      bytes: 0,
    };
  const bytes = Buffer.byteLength(canonicalJson(json));
  const textual = textProblems(json);
  const parsed = contractSchema.safeParse(json);
  if (parsed.success) return { draft: parsed.data, problems: textual, bytes };
  return {
    draft: wellFields(json, parsed.error.issues),
    problems: [...textual, ...parsed.error.issues.flatMap(shapeProblems)],
    bytes,
  };
}

/** Writes a contract as canonical JSON. */
export function contractBody(contract: Contract): string {
  return canonicalJson(contract);
}

/** SHA-256 of a contract body. */
export function contractDigest(body: string): Buffer {
  return createHash('sha256').update(body, 'utf8').digest();
}

function jsonOf(body: string): Readonly<Record<string, Json>> | undefined {
  try {
    const json = readJson(body);
    return json !== null && typeof json === 'object' && !Array.isArray(json)
      ? (json as Readonly<Record<string, Json>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** True when some text, name or value, holds NUL or half a surrogate pair. */
export function holdsUnstorable(json: Json): boolean {
  if (typeof json === 'string') return json.includes('\0') || !json.isWellFormed();
  if (json === null || typeof json !== 'object') return false;
  return Object.entries(json).some(([name, member]) => holdsUnstorable(name) || holdsUnstorable(member));
}

function textProblems(json: Json): readonly ContractProblem[] {
  return holdsUnstorable(json) ? [problem('CONTRACT_TEXT_NOT_STORABLE', '', 'a text holds what cannot be stored')] : [];
}

/** What is wrong with the size of a contract that would register, or has registered under its owner and its version. */
export function sizeProblems(body: string): readonly ContractProblem[] {
  const { bytes } = readContract(body);
  return bytes > BODY_BYTES_MAX || Buffer.byteLength(body) > 4 * BODY_BYTES_MAX
    ? [problem('CONTRACT_TOO_LARGE', '', `the contract has ${bytes} bytes`)]
    : [];
}

function shapeProblems(issue: z.core.$ZodIssue): readonly ContractProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      problem('CONTRACT_FIELD_UNKNOWN', pointerOf([...issue.path, key]), `there is no field ${key}`),
    );
  }
  const path = pointerOf(issue.path);
  return [problem(shapeCode(issue, path), path, `${path.slice(1).replaceAll('/', '.')}: ${issue.message}`)];
}

function shapeCode(issue: z.core.$ZodIssue, path: string): ContractProblemCode {
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  if (/^(?:\/reversal_then\/\d+)?\/verification/.test(path)) return 'VERIFICATION_INVALID';
  if (isMissing && (path === '/args_schema' || path === '/result_schema')) return 'SCHEMA_MISSING';
  if (isMissing) return 'CONTRACT_FIELD_MISSING';
  return path === '/name' || /[/_]capability$/.test(path) ? 'CAPABILITY_NAME_INVALID' : 'CONTRACT_FIELD_INVALID';
}

function wellFields(json: Readonly<Record<string, Json>>, issues: readonly z.core.$ZodIssue[]): ContractDraft {
  const bad = new Set(issues.map((issue) => String(issue.path[0] ?? '')));
  const known = Object.keys(contractSchema.shape);
  // Each field left stands in no issue, so it went through its own schema.
  return Object.fromEntries(Object.entries(json).filter(([field]) => known.includes(field) && !bad.has(field)));
}
