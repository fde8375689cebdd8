// Checks what somebody hands over as a proof. Asks nobody: the schema comes with it, and its fingerprint is part of what is proved.
import { checkProof, parseProof } from '@recourse/audit';
import type { NoteKey, ProofProblem, ProofTrust } from '@recourse/audit';
import { createCodecs } from '@recourse/messages';

/** What is wrong with a proof, whatever it is; null when it holds. */
export async function problemOfProof(
  value: unknown,
  keys: readonly NoteKey[],
  { logId = null, witnesses = [] }: Pick<ProofTrust, 'logId' | 'witnesses'> = {},
): Promise<ProofProblem | null> {
  const schema = parseProof(value)?.record.schema;
  const fingerprint = schema === undefined ? null : await fingerprintOf(schema);
  return checkProof(value, { keys, fingerprintOf: () => fingerprint, logId, witnesses });
}

/** Fingerprint of a schema as text; null for what is none. */
async function fingerprintOf(schema: string): Promise<Buffer | null> {
  const codecs = createCodecs({ schemaById: () => Promise.resolve(schema), idOf: () => Promise.resolve(1) });
  await codecs.load(1).catch(() => undefined);
  return codecs.fingerprintOf(1);
}
