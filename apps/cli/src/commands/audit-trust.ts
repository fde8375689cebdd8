// What a reader of logs trusts, and where the logs are, by the command line.
import { resolve } from 'node:path';
import type { NoteKey, SignedHead } from '@recourse/audit';
import { createSchemaRegistry } from '@recourse/kafka';
import type { Kafka, SchemaRegistry, Signing } from '@recourse/kafka';
import { logIdsIn } from '../audit/dump.js';
import type { ReadDump } from '../audit/dump-signed.js';
import { auditorKey, headsInDump, headsInFile, headsInTopic } from '../audit/heads.js';
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
}

/** The signed heads that a reader trusts, and whose they are; null where no key is given. Errors: CliProblem(KEY_UNREADABLE, FILE_UNREADABLE). */
export async function trustOf(
  session: Session,
  { auditorKey: given, heads: file, dump: folder }: TrustOptions,
): Promise<{ readonly key: NoteKey; readonly heads: readonly SignedHead[] } | null> {
  if (given === undefined) {
    if (file === undefined) return null;
    throw new CliProblem('KEY_MISSING', 'signed heads say nothing without the key of who signed them', 'usage', {
      remedy: 'Pass --auditor-key, from somewhere that whoever writes the logs cannot change.',
    });
  }
  const key = auditorKey(given, resolve(session.folder, given));
  const kept = file === undefined ? [] : headsInFile(resolve(session.folder, file), key);
  const inLog = await (folder === undefined
    ? headsInTopic(cluster(session), key)
    : headsInDump(dumpIn(session, folder), key));
  return { key, heads: [...kept, ...inLog] };
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
