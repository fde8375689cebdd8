// Decides who lets an agent rise no further, and who lets it rise again: a person, and never one who answers for it (D37, P5). Pure.
import { isAmong, isPerson } from '@recourse/kernel';
import type { CommandEnvelope } from '@recourse/messages';
import type { Autonomy, AutonomyRejection } from './autonomy.messages.js';
import { changed } from './signal.decider.js';
import type { Change, SignalFacts } from './signal.decider.js';

/** What a word about a freeze is decided on, beside the command. */
export interface FreezeFacts extends Omit<SignalFacts, 'standing'> {
  readonly standing: Autonomy | null;
  /** Who answers for the agent, by each of its charters. */
  readonly owners: readonly string[];
}

interface FreezeCommand {
  readonly envelope: CommandEnvelope;
  readonly reason: string;
}

export type FreezeAnswer =
  | { readonly kind: 'recorded'; readonly change: Change }
  | { readonly kind: 'rejected'; readonly code: AutonomyRejection; readonly message: string };

/** Lets it rise no further. */
export function decideFreeze(command: FreezeCommand, facts: FreezeFacts): FreezeAnswer {
  const { envelope: asker } = command;
  const { standing } = facts;
  if (standing === null || standing.tenant !== asker.tenant) return UNKNOWN;
  if (standing.frozen_by !== null) return rejected('AUTONOMY_FROZEN', `it is frozen already: ${standing.frozen_by}`);
  return recorded('frozen', command, { ...facts, standing });
}

/** Lets it rise again: of what it did before only a violation that still holds counts on. */
export function decideUnfreeze(command: FreezeCommand, facts: FreezeFacts): FreezeAnswer {
  const { envelope: asker } = command;
  const { standing, owners } = facts;
  if (standing === null || standing.tenant !== asker.tenant) return UNKNOWN;
  if (isAmong([standing.agent_id, ...owners], asker))
    return rejected('SELF_APPROVAL', 'neither the agent nor who answers for it lets it rise again');
  if (!isPerson(asker.principal))
    return rejected(
      'APPROVER_NOT_A_PERSON',
      'only a person lets an agent rise again: no agent, no service account, no role',
    );
  if (standing.frozen_by === null) return rejected('AUTONOMY_NOT_FROZEN', 'it may rise already');
  return recorded('unfrozen', command, { ...facts, standing });
}

const UNKNOWN = rejected('AUTONOMY_UNKNOWN', 'nobody has said anything of such an agent at such a task');

function recorded(
  kind: 'frozen' | 'unfrozen',
  { envelope: { principal: by, command_id }, reason }: FreezeCommand,
  { standing, task, now }: FreezeFacts & { readonly standing: Autonomy },
): FreezeAnswer {
  return { kind: 'recorded', change: changed(standing, { kind }, { standing, task, now }, { by, reason, command_id }) };
}

function rejected(code: AutonomyRejection, message: string): FreezeAnswer & { readonly kind: 'rejected' } {
  return { kind: 'rejected', code, message };
}
