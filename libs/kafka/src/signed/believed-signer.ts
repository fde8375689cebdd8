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

/** A signer that can be asked whether it would sign. */
export interface BelievedSigner extends Signer {
  /** Failure(KEY_NOT_BELIEVED) with which `sign` would refuse now; null where it would sign. */
  readonly doubt: () => Failure | null;
}

/** What the key signs when it is asked whether it is the one in the keyring: no record of ours reads so. */
const PROBE = 'recourse-key-check';

/**
 * Signs while the keyring believes the key.
 *
 * Errors: Failure(KEY_NOT_BELIEVED) from `sign` while it does not; the same from here where the key is a service's, which is not to
 *         begin with a key that speaks for nobody.
 */
export function believedSigner(signer: Signer, options: BelievedOptions): BelievedSigner {
  const { keyId } = signer;
  const signature = signer.sign(PROBE);
  const { proves } = new ProvenSignatures();
  const doubt = (): Failure | null => {
    const now = options.clock.now();
    const problem = problemOf(
      speakerOf(options.keyring(), { keyId, text: PROBE, signature, signedAt: now }, now, proves),
      options,
    );
    return problem === null ? null : notBelieved(keyId, options, problem);
  };
  const refuse = (): void => {
    const failure = doubt();
    if (failure !== null) throw failure;
  };
  if (options.service !== undefined) refuse();
  return {
    keyId,
    doubt,
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
