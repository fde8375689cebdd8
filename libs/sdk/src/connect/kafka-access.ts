// As whom a connection speaks to Kafka: what the environment says, else a user that a secure development stack keeps.
import { ACCESS_VARIABLES, accessIn } from '@recourse/kafka';
import type { KafkaAccess } from '@recourse/kafka';
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
  const kept = [...users, AGENT].find((name) => Object.hasOwn(stack?.kafkaUsers ?? {}, name));
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
