// Whether anybody can be asked to undo something: an adapter is a topic of requests, and a stack has those that it was started with.
import { adapterOf, reversalCallsOf } from '@recourse/contract';
import type { Kafka } from '@recourse/kafka';
import type { GuardOptions } from '../guard/guard.messages.js';
import { trouble } from '../guard/objections.js';
import { requestsTopic } from '../worker/worker.js';
import { ConnectProblem } from './connect.problem.js';

/** Errors: ConnectProblem(ADAPTER_UNKNOWN); those of Kafka. */
export async function refuseUnknown(kafka: Kafka, adapter: string): Promise<void> {
  const topic = requestsTopic(adapter);
  if (!(await topicsSeen(kafka)).includes(topic))
    throw new ConnectProblem('ADAPTER_UNKNOWN', `there is no topic ${topic}: nothing is asked of this adapter`);
}

/**
 * Tells of a contract whose reversal nobody can be asked for here, before its tool acts: the undo would end as one that nobody answered.
 *
 * Errors: none; who may not look at the topics, or does not reach them, is told nothing.
 */
export async function noteUnknown(kafka: Kafka, { contract, mode, onTrouble }: GuardOptions): Promise<void> {
  if (mode === 'off') return;
  const adapters = new Set(
    reversalCallsOf(contract).flatMap(({ capability }) => (capability === null ? [] : [adapterOf(capability)])),
  );
  const seen = await topicsSeen(kafka).catch((): readonly string[] => []);
  // Where access is closed an agent sees no topic of requests, and whether there is one is not for it to know.
  if (!seen.some((topic) => topic.startsWith(requestsTopic('')))) return;
  const unknown = [...adapters].filter((adapter) => !seen.includes(requestsTopic(adapter)));
  for (const adapter of unknown)
    onTrouble?.(
      trouble(
        'ADAPTER_UNKNOWN',
        `${contract.name} is undone through ${adapter}, and there is no topic ${requestsTopic(adapter)}: nobody will be asked to undo it. ` +
          'Start the stack with it (`RECOURSE_ADAPTERS=<adapter> npm start`), or create its request topic',
      ),
    );
}

async function topicsSeen(kafka: Kafka): Promise<readonly string[]> {
  const admin = await kafka.admin();
  try {
    return await admin.listTopics();
  } finally {
    await admin.close();
  }
}
