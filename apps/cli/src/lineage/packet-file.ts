// Replay packets on disk: JSON, read with what is wrong at which place, and written for its owner alone.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { INPUTS_CODES, PACKET_FORMAT, STATE_CODES } from '@recourse/lineage';
import type { PackedCheckpoint, Packet } from '@recourse/lineage';
import { GATE_VERDICT_VALUES, STATE_KIND_VALUES } from '@recourse/messages';
import { z } from 'zod';
import { CliProblem } from '../problem.js';

/** Problems of a file that are told at the most. */
const PROBLEMS_MAX = 20;
/** A packet holds states in the clear: only its owner reads it. */
const OWNER_ONLY = 0o600;

const sum = z.string().regex(/^[0-9a-f]{64}$/, '64 hex digits are asked for');
const bytes = z.base64();
const ref = z.strictObject({ run_id: z.string(), commit_id: z.string() });
const whole = z.int().min(0);
const release = z
  .strictObject({
    prompt: z.string(),
    model: z.string(),
    policy: z.string(),
    tools: z.string(),
    context: z.string(),
    eval: z.string(),
    memory: z.string(),
  })
  .nullable();
const packedState = { code: z.enum(STATE_CODES).nullable(), sha256: sum.nullable() };

const checkpoint: z.ZodType<PackedCheckpoint> = z.strictObject({
  tenant: z.string(),
  run_id: z.string(),
  agent_id: z.string(),
  initiator: z.string().nullable(),
  objective: z.string().nullable(),
  step_id: z.string(),
  produced_by: z.string(),
  subject_ref: z.string().nullable(),
  parents: z.array(ref),
  assumption_refs: z.array(z.string()),
  release,
  committed_at: z.int(),
  gate: z
    .strictObject({
      bundle: z.string(),
      bundle_version: z.int(),
      bundle_digest: sum,
      verdict: z.enum(GATE_VERDICT_VALUES),
      inputs_sha256: sum,
    })
    .nullable(),
  state: z
    .strictObject({
      kind: z.enum(STATE_KIND_VALUES),
      base_id: z.string().nullable(),
      content_type: z.string(),
      size_bytes: z.int(),
      chunk_sha256s: z.array(sum),
    })
    .nullable(),
});

const packet: z.ZodType<Packet> = z.strictObject({
  format: z.literal(PACKET_FORMAT),
  commit_id: z.string(),
  release,
  state: z.strictObject(packedState),
  before: z.strictObject({ ...packedState, commit_id: z.string().nullable(), is_too_far: z.boolean() }).nullable(),
  commits: z.array(
    z.strictObject({
      commit_id: z.string(),
      checkpoint,
      chunks: z.array(bytes).nullable(),
      state_code: z.enum(STATE_CODES).nullable(),
      inputs: bytes.nullable(),
      inputs_code: z.enum(INPUTS_CODES).nullable(),
      proof: z.strictObject({ log: z.string(), partition: whole, seq: whole, recorded_hash: sum }),
    }),
  ),
  effects: z.array(z.strictObject({ mutation_id: z.string(), parents: z.array(ref) })),
  policy: z
    .strictObject({
      name: z.string(),
      tenant: z.string(),
      version: z.int(),
      digest: sum,
      body: z.string(),
      admitted_it: z.boolean(),
    })
    .nullable(),
});

/** Reads a packet. Errors: CliProblem(FILE_UNREADABLE, PACKET_INVALID). */
export function readPacket(file: string, folder: string): Packet {
  const read = packet.safeParse(jsonIn(file, folder));
  if (!read.success)
    throw invalid(
      `${file} is no replay packet of the form ${PACKET_FORMAT}`,
      read.error.issues
        .slice(0, PROBLEMS_MAX)
        .map(({ path, message }) => ({ code: 'FIELD_INVALID', message, path: `/${path.map(String).join('/')}` })),
    );
  const { commits, commit_id: id } = read.data;
  if (!commits.some((commit) => commit.commit_id === id))
    throw invalid(`${file} does not hold the commit it is about, ${id}`);
  if (new Set(commits.map((commit) => commit.commit_id)).size < commits.length)
    throw invalid(`${file} holds a commit twice`);
  return read.data;
}

/** A packet as a service answered it, checked like a file. Errors: CliProblem(PACKET_INVALID). */
export function packetIn(answer: unknown): Packet {
  const read = packet.safeParse(answer);
  if (read.success) return read.data;
  throw new CliProblem(
    'PACKET_INVALID',
    'what the ledger answered is no replay packet of this version',
    'unavailable',
    { remedy: 'Use the command line and the services of one version.' },
  );
}

/** Writes a packet to a new file. Errors: CliProblem(FILE_UNWRITABLE). */
export function writePacket(made: Packet, file: string, folder: string): void {
  try {
    writeFileSync(resolve(folder, file), `${JSON.stringify(made, null, 2)}\n`, { flag: 'wx', mode: OWNER_ONLY });
  } catch (cause) {
    throw new CliProblem(
      'FILE_UNWRITABLE',
      `${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      'usage',
      { cause, remedy: 'Name a new file in a folder that can be written to; nothing is overwritten.' },
    );
  }
}

function jsonIn(file: string, folder: string): unknown {
  let text: string;
  try {
    text = readFileSync(resolve(folder, file), 'utf8');
  } catch (cause) {
    throw new CliProblem(
      'FILE_UNREADABLE',
      `${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      'usage',
      { cause, remedy: 'Name a file that `recourse lineage packet <commit> --out <file>` wrote.' },
    );
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw invalid(`${file} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, [], cause);
  }
}

function invalid(what: string, problems: CliProblem['problems'] = [], cause?: unknown): CliProblem {
  return new CliProblem('PACKET_INVALID', what, 'usage', {
    problems,
    cause,
    remedy: 'Make it anew with `recourse lineage packet <commit> --out <file>`.',
  });
}
