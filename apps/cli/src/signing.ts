// Keys of the command line: whom it believes, and what it signs with. Variables first, then the development stack that was found.
import { signingFrom, signingPlacesGiven } from '@recourse/kafka';
import type { Signing, SigningPlaces } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { ownerOfLog } from '@recourse/messages';
import type { StackFile } from '@recourse/sdk';

/** Who audits and checks on a secure development stack: it reads, and signs nothing. */
export const OPERATOR = 'operator';

/** Whose keys are wanted. */
export interface KeysWanted {
  readonly user: string;
  /** Ids of logs that lie elsewhere than on the brokers: a stack's keyring is about its own logs alone. */
  readonly logIds?: readonly string[];
}

/**
 * How a user signs and whom it believes; null where nothing is said of keys, or wires are said to be open.
 *
 * Errors: Failure(KEYRING_INVALID).
 */
export function signingOf(
  wanted: KeysWanted,
  environment: NodeJS.ProcessEnv,
  system: StackFile | null,
): Signing | null {
  const stack = (wanted.logIds ?? []).every((id) => id === system?.logId) ? system : null;
  return signingFrom(placesOf(wanted.user, environment, stack), { ownerOf: ownerOfLog, clock: systemClock });
}

/** Whom a process that only reads believes; names as they stand on its wire. */
export interface KeysTold {
  readonly wires: 'strict' | 'open';
  readonly keyring_file: string | null;
}

/** The same for a process that reads in the place of the command line, which judges the keyring before it asks. Errors: as signingOf. */
export function keysToldOf(wanted: KeysWanted, environment: NodeJS.ProcessEnv, system: StackFile | null): KeysTold {
  signingOf(wanted, environment, system);
  const { wires, keyringFile } = placesOf(wanted.user, environment, system);
  return { wires, keyring_file: keyringFile ?? null };
}

function placesOf(user: string, environment: NodeJS.ProcessEnv, stack: StackFile | null): SigningPlaces {
  const given = signingPlacesGiven(environment);
  if (areWiresSaidOpen(environment) || stack === null || stack.keyringFile === null) return given;
  const keyringFile = given.keyringFile ?? stack.keyringFile;
  const kept = user === OPERATOR ? undefined : stack.signingKeys[user];
  const isTold = given.signingKeyFile !== undefined || given.signingKeyId !== undefined;
  return isTold || kept === undefined
    ? { ...given, wires: 'strict', keyringFile }
    : { wires: 'strict', keyringFile, signingKeyFile: kept, signingKeyId: user };
}

/** Does the environment say that nothing is signed? */
export function areWiresSaidOpen(environment: NodeJS.ProcessEnv): boolean {
  return environment['RECOURSE_WIRES']?.trim() === 'open';
}
