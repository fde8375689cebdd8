// As whom a connection speaks to Kafka, and what it signs with: what the environment says, else a user that a secure
// development stack keeps.
import { ACCESS_VARIABLES, accessIn, signingFrom, signingPlacesGiven, signingPlacesIn } from '@recourse/kafka';
import type { KafkaAccess, Signing, SigningPlaces } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import { ownerOfLog } from '@recourse/messages';
import { ConnectProblem } from './connect.problem.js';
import type { StackFile } from './stack-file.js';
import { valueIn } from './whereabouts.js';
import type { Environment } from './whereabouts.js';

/** User of a secure development stack for programs that have none of their own name. */
const AGENT = 'agent';

/**
 * Shape:  `users` are looked for in the stack's file, the first that is there; none of them: its agent. A stack that asks
 *         nobody keeps none.
 * Errors: ConnectProblem(KAFKA_ACCESS_INVALID).
 */
export function kafkaAccessFor(
  users: readonly string[],
  environment: Environment,
  stack: StackFile | null,
): KafkaAccess {
  const { user, passwordFile, caFile } = ACCESS_VARIABLES;
  const kept = keptOf(users, stack);
  const isTold = [user, passwordFile].some((name) => valueIn(environment, name) !== undefined);
  try {
    return accessIn(
      isTold || kept === undefined
        ? environment
        : { [caFile]: environment[caFile], [user]: kept, [passwordFile]: stack?.kafkaUsers[kept] },
    );
  } catch (cause) {
    throw new ConnectProblem('KAFKA_ACCESS_INVALID', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The first of these users that the stack keeps, else its agent. */
function keptOf(users: readonly string[], stack: StackFile | null): string | undefined {
  return [...users, AGENT].find((name) => Object.hasOwn(stack?.kafkaUsers ?? {}, name));
}

/**
 * What a connection signs with, and whom it believes; null where wires are open.
 *
 * Shape:  strict unless told otherwise; a development stack that signs nothing says so by naming no keyring.
 * Errors: ConnectProblem(KEYS_MISSING).
 */
export function signingFor(
  users: readonly string[],
  environment: Environment,
  { stack, clock }: { readonly stack: StackFile | null; readonly clock: Clock },
): Signing | null {
  try {
    return signingFrom(placesOf(keptOf(users, stack), environment, stack), { ownerOf: ownerOfLog, clock });
  } catch (cause) {
    throw new ConnectProblem('KEYS_MISSING', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function placesOf(kept: string | undefined, environment: Environment, stack: StackFile | null): SigningPlaces {
  if (stack === null) return signingPlacesIn(environment);
  const given = signingPlacesGiven(environment);
  if (given.wires === 'strict' || stack.keyringFile === null || valueIn(environment, 'RECOURSE_WIRES') !== undefined)
    return given;
  const signingKeyFile = kept === undefined ? undefined : stack.signingKeys[kept];
  return { wires: 'strict', keyringFile: stack.keyringFile, signingKeyFile, signingKeyId: kept };
}

/** The same of an environment alone, for programs that make their own client. Errors: TypeError; Failure(KEYRING_INVALID). */
export function kafkaAccessIn(environment: Environment): KafkaAccess {
  const signing = signingFrom(signingPlacesGiven(environment), { ownerOf: ownerOfLog, clock: systemClock });
  return { ...accessIn(environment), signing };
}
