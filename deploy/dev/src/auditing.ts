// The auditor of a development stack and a witness of it, and whether what they signed covers the logs.
//
// Boundary: plans the two processes and their keys, and compares signed heads with lengths; verifying is the command line's.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSignedBy, noteSigner, parseNote, readHeads, verifierText } from '@recourse/audit';
import type { NoteKey, NoteRole } from '@recourse/audit';
import { root } from '../../../scripts/lib/paths.mjs';
import type { Ran } from './command-line.js';
import type { ProcessSpec } from './processes.js';
import { signingKeyOf } from './secrets.js';
import { layoutOf } from './stack-data.js';
import { AUDITOR, WITNESS } from './system.plan.js';
import type { Audited } from './system.plan.js';
import type { Planning } from './system-processes.js';
import { userVariables } from './users.js';

/** Names that heads bear. */
const NAMES = { log: 'recourse-auditor', witness: 'recourse-witness' } as const satisfies Record<NoteRole, string>;
/** A story is over in half a minute: what it wrote is signed by then. */
const SIGN_EVERY_MS = '1000';

interface KeyFile {
  readonly path: string;
  readonly verifier: string;
}

/** A key that nobody who writes a log has; made when it is not there. */
function keyOf(dataDir: string, role: NoteRole): KeyFile {
  const path = signingKeyOf(join(dataDir, 'secrets'), role === 'log' ? 'signed-heads' : 'witness');
  return { path, verifier: verifierText(noteSigner(NAMES[role], role, readFileSync(path, 'utf8')).key) };
}

/** Where heads are, and writes the verifier keys for whoever checks them. */
export function auditedIn(dataDir: string): Audited {
  const folder = layoutOf(dataDir).programs;
  mkdirSync(folder, { recursive: true });
  const [auditorKeyFile, witnessKeyFile] = [join(dataDir, 'auditor.vkey'), join(dataDir, 'witness.vkey')];
  writeFileSync(auditorKeyFile, `${keyOf(dataDir, 'log').verifier}\n`);
  writeFileSync(witnessKeyFile, `${keyOf(dataDir, 'witness').verifier}\n`);
  return { headsFile: join(folder, AUDITOR, 'heads.notes'), auditorKeyFile, witnessKeyFile };
}

/** The auditor and its witness, started beside the others: a story does not wait for them. */
export function auditorProcesses(plan: Planning): readonly ProcessSpec[] {
  return [witnessProcess(plan), auditorProcess(plan)];
}

const urlOf = ({ ports }: Planning, name: string): string => `http://127.0.0.1:${String(ports[name])}`;

function witnessProcess(plan: Planning): ProcessSpec {
  const { dataDir, ports } = plan;
  return {
    name: WITNESS,
    entry: join(root, 'apps/auditor/dist/witness.main.js'),
    isBeside: true,
    readyUrl: `${urlOf(plan, WITNESS)}/health`,
    env: {
      RECOURSE_WITNESS_NAME: NAMES.witness,
      RECOURSE_WITNESS_KEY_FILE: keyOf(dataDir, 'witness').path,
      RECOURSE_WITNESS_AUDITORS: keyOf(dataDir, 'log').verifier,
      RECOURSE_WITNESS_FOLDER: join(layoutOf(dataDir).programs, WITNESS),
      RECOURSE_HTTP_PORT: String(ports[WITNESS]),
    },
  };
}

function auditorProcess(plan: Planning): ProcessSpec {
  const { dataDir, ports, stack, logId } = plan;
  return {
    name: AUDITOR,
    entry: join(root, 'apps/auditor/dist/main.js'),
    stage: 1,
    isBeside: true,
    readyWithinMs: 60_000,
    readyUrl: `${urlOf(plan, AUDITOR)}/health/ready`,
    env: {
      RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
      RECOURSE_WIRES: 'open',
      RECOURSE_REGISTRY_URL: stack.registryUrl,
      ...userVariables(stack, dataDir, AUDITOR),
      RECOURSE_LOG_ID: logId,
      RECOURSE_AUDITOR_NAME: NAMES.log,
      RECOURSE_AUDITOR_KEY_FILE: keyOf(dataDir, 'log').path,
      RECOURSE_AUDITOR_FOLDER: join(layoutOf(dataDir).programs, AUDITOR),
      RECOURSE_AUDITOR_WITNESSES: `${keyOf(dataDir, 'witness').verifier}=${urlOf(plan, WITNESS)}`,
      RECOURSE_AUDITOR_EVERY_MS: SIGN_EVERY_MS,
      RECOURSE_HTTP_PORT: String(ports[AUDITOR]),
    },
  };
}

/** One log partition and how many records count in it. */
export interface LogLength {
  readonly topic: string;
  readonly partition: number;
  readonly accepted: number;
}

/** Partitions whose newest head that all of these signed has fewer records than they had. Pure. */
export function uncovered(
  lengths: readonly LogLength[],
  notes: string,
  keys: readonly [NoteKey, ...NoteKey[]],
): readonly string[] {
  const sizes = new Map<string, number>();
  for (const { topic, partition, size, note } of readHeads(notes, [keys[0]]).heads) {
    const signed = parseNote(note);
    if (signed === null || !keys.every((key) => isSignedBy(signed, key))) continue;
    const name = `${topic}/${String(partition)}`;
    sizes.set(name, Math.max(size, sizes.get(name) ?? 0));
  }
  return lengths.flatMap(({ topic, partition, accepted }) => {
    const name = `${topic}/${String(partition)}`;
    return accepted > (sizes.get(name) ?? 0) ? [name] : [];
  });
}

/** Why logs do not verify: what `recourse audit verify --json` found, by log and partition, or what it said where it read nothing. Pure. */
export function foundIn({ stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): string {
  if (!stdout.startsWith('{')) return `${stderr}${stdout}`.trim();
  // What it prints once it has read the logs.
  const { partitions } = JSON.parse(stdout) as { readonly partitions: readonly Verified[] };
  const found = partitions.flatMap(({ topic, partition, findings }) =>
    findings.map(({ message }) => `${topic}/${String(partition)}: ${message}`),
  );
  return [...found, stderr.trim()].filter((line) => line !== '').join('; ');
}

interface Verified {
  readonly topic: string;
  readonly partition: number;
  readonly findings: readonly { readonly message: string }[];
}
