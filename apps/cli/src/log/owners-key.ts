// Refuses to write a log that its owner signs without a key of the owner: nobody would believe the record (P1).
//
// Boundary: judges keys and looks for signatures; writes nothing.
import { SIGNATURE } from '@recourse/kafka';
import type { Kafka, Signing } from '@recourse/kafka';
import { speakerOf, speaksUnder } from '@recourse/kernel';
import { readPartition } from '../audit/topics.js';
import { CliProblem } from '../problem.js';

/** A log, who owns it, and where keys were looked for. */
export interface OwnedPlace {
  readonly log: string;
  readonly owner: string;
  /** Data directory of the development stack that was found; null without one. */
  readonly dataDir: string | null;
}

/** Errors: CliProblem(OWNER_KEY_MISSING, OWNER_KEY_INVALID) where logs are signed and the owner's key is not at hand. */
export function refuseOtherKeys(signing: Signing | null, place: OwnedPlace): void {
  if (signing === null) return;
  const { signer, keyring, clock } = signing;
  if (signer === null) throw keyMissing(place, 'wires are strict');
  const [text, signedAt] = [`recourse-cli-key-check ${place.log}`, clock.now()];
  const { keyId } = signer;
  const speaker = speakerOf(keyring(), { keyId, text, signature: signer.sign(text), signedAt });
  if (typeof speaker === 'string') throw keyInvalid(place, keyId, speaker);
  if (!speaker.roles.includes('service') || !speaksUnder(speaker, place.owner))
    throw keyInvalid(place, keyId, 'SPEAKER_MISMATCH');
}

/** Where nothing is said of keys: looks whether records of the partition are signed. Errors: CliProblem(OWNER_KEY_MISSING); those of Kafka. */
export async function refuseSignedLog(
  kafka: Pick<Kafka, 'rawReader'>,
  partition: number,
  place: OwnedPlace,
): Promise<void> {
  const reader = await kafka.rawReader();
  try {
    for await (const records of readPartition(reader, place.log, partition, 0)) {
      const signed = records.find(({ headers }) => headers[SIGNATURE] !== undefined);
      if (signed !== undefined) throw keyMissing(place, `record at offset ${signed.offset} is signed`);
    }
  } finally {
    await reader.close();
  }
}

const SET =
  'Set RECOURSE_KEYRING_FILE, RECOURSE_SIGNING_KEY_FILE and RECOURSE_SIGNING_KEY_ID as the service that owns the log has them';

function keyMissing({ log, owner, dataDir }: OwnedPlace, why: string): CliProblem {
  const kept =
    dataDir === null
      ? 'no development stack was found that keeps it'
      : `${dataDir}/system.json keeps none for ${owner} below signing_keys`;
  return new CliProblem(
    'OWNER_KEY_MISSING',
    `the signing key of ${owner}, which owns ${log}, is not at hand, and ${why}: what it does not sign is void. RECOURSE_SIGNING_KEY_FILE names no key, and ${kept}`,
    'usage',
    { remedy: `${SET}, or --data-dir of its stack; RECOURSE_WIRES=open where the services themselves run so.` },
  );
}

function keyInvalid({ log, owner }: OwnedPlace, keyId: string, why: string): CliProblem {
  return new CliProblem(
    'OWNER_KEY_INVALID',
    `by the keyring the key ${keyId} does not speak as ${owner}, which owns ${log} (${why}): what it signs there is void`,
    'usage',
    { remedy: `${SET}; \`recourse keys check\` lists what a keyring holds.` },
  );
}
