// What a reader of logs trusts, and where the logs are, by the command line.
import { resolve } from 'node:path';
import type { NoteKey, SignedHead } from '@recourse/audit';
import { createSchemaRegistry } from '@recourse/kafka';
import type { Kafka, SchemaRegistry, Signing } from '@recourse/kafka';
import { Option } from 'commander';
import { countText } from '../output/count-text.js';
import { CountedHeads } from '../audit/counted-heads.js';
import { uncovered } from '../audit/coverage.js';
import type { TrustedHeads } from '../audit/coverage.js';
import { logIdsIn } from '../audit/dump.js';
import type { ReadDump } from '../audit/dump-signed.js';
import { withFirstHeads } from '../audit/first-heads.js';
import type { HeadsLook } from '../audit/first-heads.js';
import { auditorKey, headsInDump, headsInFile, headsInTopic, witnessKey } from '../audit/heads.js';
import { lengthsOf } from '../audit/topics.js';
import { known, OPERATOR } from '../config.js';
import { kafkaAs } from '../kafka.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';

/** A registry that was just started answers its first requests slowly. */
const REGISTRY_TIMEOUT_MS = 20_000;

/** What a reader trusts, on the command line. */
export interface TrustOptions {
  readonly dump?: string;
  readonly heads?: string;
  readonly auditorKey?: string;
  /** Witnesses each of which has to have signed a head for it to count. */
  readonly witnessKey?: readonly string[];
  /** Heads to begin behind: signed ones where the key of an auditor is given, and none of a witness. */
  readonly fromHead?: string;
}

/** Heads of one auditor. */
export type Trusted = TrustedHeads & Signers;

/** As each command has it that takes it. */
export const WITNESS_KEY = (): Option =>
  new Option(
    '--witness-key <key>',
    'verifier key of a witness, or its file: only heads that it signed count; given again, each has to have signed them',
  ).argParser((one: string, before: readonly string[] | undefined) => [...(before ?? []), one]);

/** Who has to have signed heads. */
interface Signers {
  readonly key: NoteKey;
  readonly witnesses: readonly NoteKey[];
}

/** Those that are named; null where nobody is. Errors: CliProblem(KEY_MISSING, KEY_UNREADABLE). */
function signersIn(
  { folder }: Pick<Session, 'folder'>,
  { auditorKey: given, witnessKey: witnesses = [] }: Pick<TrustOptions, 'auditorKey' | 'witnessKey'>,
): Signers | null {
  if (given === undefined && witnesses.length > 0) throw keyMissing();
  if (given === undefined) return null;
  return {
    key: auditorKey(given, resolve(folder, given)),
    witnesses: witnesses.map((one) => witnessKey(one, resolve(folder, one))),
  };
}

/** The same as the check of a proof takes it: no keys where nobody is named. */
export function proofTrustIn(
  session: Pick<Session, 'folder'>,
  options: Pick<TrustOptions, 'auditorKey' | 'witnessKey'>,
): { readonly keys: readonly NoteKey[]; readonly witnesses: readonly NoteKey[] } {
  const signers = signersIn(session, options);
  return { keys: signers === null ? [] : [signers.key], witnesses: signers?.witnesses ?? [] };
}

function keyMissing(): CliProblem {
  return new CliProblem('KEY_MISSING', 'signed heads say nothing without the key of who signed them', 'usage', {
    remedy: 'Pass --auditor-key, from somewhere that whoever writes the logs cannot change.',
  });
}

/**
 * The signed heads that a reader trusts, and whose they are; null where no key is given. Heads of another deployment are none of these
 * logs, whoever signed them.
 *
 * Errors: CliProblem(KEY_MISSING, KEY_UNREADABLE, FILE_UNREADABLE).
 */
export async function trustOf(session: Session, options: TrustOptions): Promise<Trusted | null> {
  const { heads: file, fromHead, dump: folder } = options;
  const signers = signersIn(session, options);
  if (signers === null && file !== undefined) throw keyMissing();
  if (signers === null) return null;
  const { key, witnesses } = signers;
  const counted = new CountedHeads(witnesses);
  const inLog = await (folder === undefined
    ? headsInTopic(cluster(session), key)
    : headsInDump(dumpIn(session, folder), key));
  counted.add(ofLogs(inLog, session, options));
  const files = witnesses.length > 0 ? [file] : [file, fromHead];
  for (const one of files.filter((name) => name !== undefined))
    counted.bring(ofLogs(headsInFile(resolve(session.folder, one), key), session, options));
  return { key, witnesses, ...counted.all };
}

/** Heads of the logs that are read. */
export function* ofLogs(
  heads: Iterable<SignedHead>,
  session: Session,
  { dump }: Pick<TrustOptions, 'dump'>,
): Generator<SignedHead> {
  const logId = dump === undefined ? cluster(session).logId : logIdOf(session, dump);
  for (const head of heads) if (logId === null || head.logId === logId) yield head;
}

/** The same for logs at the brokers: one that has only begun is waited for until the auditor has come to it. */
export async function trustOfTopics(
  session: Session,
  options: TrustOptions,
  topics: readonly string[],
): Promise<Trusted | null> {
  const look = async (): Promise<HeadsLook<Trusted | null>> => {
    const trusted = await trustOf(session, options);
    if (trusted === null) return { trusted, open: 0 };
    return { trusted, open: uncovered(await lengthsOf(cluster(session).kafka, topics), trusted.heads).length };
  };
  return withFirstHeads(look, {
    now: () => session.clock.now(),
    rest: (ms) => new Promise((rested) => setTimeout(rested, ms)),
    onWait: (open) => {
      session.terminal.note(`Waiting for the first head of ${countText(open, 'partition')}.`);
    },
  });
}

/** The deployment whose logs a dump has to hold: the one that is named, else that of its first file; null where no file says one. */
export function logIdOf({ flags, folder }: Session, dump: string): string | null {
  return flags.logId ?? logIdsIn(resolve(folder, dump))[0] ?? null;
}

/** A dump, with the keyring that is named, or that of the development stack whose logs it holds. Errors: CliProblem(DUMP_UNREADABLE). */
export function dumpIn({ folder, settings }: Session, name: string): ReadDump {
  const dump = resolve(folder, name);
  return { folder: dump, signing: settings.signing({ user: OPERATOR, logIds: logIdsIn(dump) }) };
}

/** Where the logs are. Errors: CliProblem(ADDRESS_UNKNOWN). */
export function cluster({ settings }: Session): {
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  readonly logId: string;
  /** Null: signatures are not looked at. */
  readonly signing: Signing | null;
} {
  const url = known(settings.registryUrl, 'where the schema registry is', '--registry');
  return {
    kafka: kafkaAs(settings, OPERATOR),
    registry: createSchemaRegistry({ url, timeoutMs: REGISTRY_TIMEOUT_MS }),
    logId: known(settings.logId, 'the id of the logs', '--log-id'),
    signing: settings.signing({ user: OPERATOR }),
  };
}
