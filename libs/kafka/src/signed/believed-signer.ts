// A key that signs as long as the keyring lets it speak: what nobody believes is void, and whoever wrote it would go on from what
// nobody else has.
//
// Invariants
//   B1. Nothing is signed with a key that this process's own keyring does not believe at that instant.
import { Failure, ProvenSignatures, speakerOf, speaksUnder } from '@recourse/kernel';
import type { Clock, KeyProblem, Keyring, Signer } from '@recourse/kernel';

/** Whom a key is asked about. */
export interface BelievedOptions {
  readonly keyring: () => Keyring;
  readonly clock: Pick<Clock, 'now'>;
  /** Service whose logs it signs; absent where it is no service's. */
  readonly service?: string | undefined;
}

/** What the key signs when it is asked whether it is the one in the keyring: no record of ours reads so. */
const PROBE = 'recourse-key-check';

/**
 * Signs while the keyring believes the key.
 *
 * Errors: Failure(KEY_NOT_BELIEVED) from `sign` while it does not; the same from here where the key is a service's, which is not to
 *         begin with a key that speaks for nobody.
 */
export function believedSigner(signer: Signer, options: BelievedOptions): Signer {
  const { keyId } = signer;
  const signature = signer.sign(PROBE);
  const { proves } = new ProvenSignatures();
  const refuse = (): void => {
    const now = options.clock.now();
    const problem = problemOf(
      speakerOf(options.keyring(), { keyId, text: PROBE, signature, signedAt: now }, now, proves),
      options,
    );
    if (problem !== null) throw notBelieved(keyId, options, problem);
  };
  if (options.service !== undefined) refuse();
  return {
    keyId,
    sign: (text) => {
      refuse();
      return signer.sign(text);
    },
  };
}

function problemOf(
  speaker: ReturnType<typeof speakerOf>,
  { service }: BelievedOptions,
): KeyProblem | 'SPEAKER_MISMATCH' | null {
  if (typeof speaker === 'string') return speaker;
  if (service === undefined) return null;
  return speaker.roles.includes('service') && speaksUnder(speaker, service) ? null : 'SPEAKER_MISMATCH';
}

function notBelieved(keyId: string, { service }: BelievedOptions, problem: string): Failure {
  const as = service === undefined ? '' : ` as ${service}`;
  return new Failure(
    'KEY_NOT_BELIEVED',
    `by the keyring the key ${keyId} does not speak${as} now (${problem}): nothing is signed with it, since everybody would take it for void`,
  );
}
