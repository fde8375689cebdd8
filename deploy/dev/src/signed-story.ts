// The end of every story: the logs are verified with the auditor's key, and its heads, signed by the witness too, cover them.
import { existsSync, readFileSync } from 'node:fs';
import { parseVerifier } from '@recourse/audit';
import type { NoteKey } from '@recourse/audit';
import { foundIn, uncovered } from './auditing.js';
import type { LogLength } from './auditing.js';
import { after } from './child.js';
import { nameOf, quoted, recourse } from './command-line.js';
import type { Audited, SystemPlan } from './system.plan.js';

/** The auditor signs every second; it may still be starting on a busy machine. */
const SIGNED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;
/** It follows all logs but its own. */
const OWN_LOG = 'recourse.signed-heads';

/** How anybody verifies the logs. */
export function verifying(audited: Audited | null): string {
  return audited === null ? 'audit verify' : `audit verify --auditor-key ${quoted(audited.auditorKeyFile)}`;
}

/** The same for whoever reads the end of a story: Kafka may be stopped by then. Pure. */
export function howToVerify(audited: Audited, dataDir: string): readonly string[] {
  const program = 'npx recourse';
  const named = `${program} ${nameOf(dataDir)}`;
  return [
    '   Anybody can check that, without our services:',
    `     while the stack is up:        ${named}${verifying(audited)}`,
    `     later, from a dump made then: ${named}audit dump the-logs, and ${program} audit verify --dump the-logs --auditor-key ${quoted(audited.auditorKeyFile)}`,
  ];
}

/** Says whether what the story wrote is signed, and how to verify it. */
export async function sayWhatIsSigned(
  { audited }: SystemPlan,
  dataDir: string,
  say: (line: string) => void,
): Promise<boolean> {
  if (audited === null) return true;
  const verified = recourse([
    '--json',
    '--data-dir',
    dataDir,
    'audit',
    'verify',
    '--auditor-key',
    audited.auditorKeyFile,
  ]);
  if (verified.status !== 0) {
    say(`   BROKEN  the logs verify against the heads of the auditor: ${foundIn(verified)}`);
    return false;
  }
  const lengths = lengthsIn(verified.stdout);
  const open = await untilCovered(audited, lengths);
  const records = lengths.reduce((sum, { accepted }) => sum + accepted, 0);
  say(
    open.length === 0
      ? `   held    heads signed by the auditor and the witness cover all ${String(records)} records of the logs`
      : `   BROKEN  heads signed by the auditor and the witness cover the logs: not ${open.join(', ')}`,
  );
  for (const line of howToVerify(audited, dataDir)) say(line);
  return open.length === 0;
}

function lengthsIn(report: string): readonly LogLength[] {
  // What `recourse audit verify --json` prints.
  const { partitions } = JSON.parse(report) as { readonly partitions: readonly LogLength[] };
  return partitions.filter(({ topic }) => topic !== OWN_LOG);
}

async function untilCovered(audited: Audited, lengths: readonly LogLength[]): Promise<readonly string[]> {
  const keys = [keyIn(audited.auditorKeyFile), keyIn(audited.witnessKeyFile)] as const;
  for (const end = Date.now() + SIGNED_WITHIN_MS; ;) {
    const notes = existsSync(audited.headsFile) ? readFileSync(audited.headsFile, 'utf8') : '';
    const open = uncovered(lengths, notes, keys);
    if (open.length === 0 || Date.now() > end) return open;
    await after(LOOK_EVERY_MS, null);
  }
}

function keyIn(file: string): NoteKey {
  const key = parseVerifier(readFileSync(file, 'utf8').trim());
  if (key === null) throw new Error(`${file} holds no verifier key`);
  return key;
}
