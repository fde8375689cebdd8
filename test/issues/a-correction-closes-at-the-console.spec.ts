// The console sent what was done alone of a correction; the orchestrator wants to hear in which state it leaves things and what whom it
// concerns sees as well, so that no correction could ever be closed there as done.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { CloseTask } from '@recourse/messages';
import { recoveries } from '../../apps/console/page/api/clients.js';
import type { Note, Verb } from '../../apps/console/page/parts/verb.js';
import { TASK_VERBS } from '../../apps/console/page/screens/task.verbs.js';
import { taskRefusal } from '../../apps/recovery-orchestrator/src/rules/task/task.decider.js';
import type { TaskDoc } from '../../apps/recovery-orchestrator/src/rules/task/task.messages.js';

const KINDS = ['correction', 'support', 'audit_note'] as const;
const ENVELOPE = { principal: 'mira', accounts: ['mira'], roles: ['approver', 'auditor'] };
const CONTEXT = { policy: { ownersOf: () => [] }, editorsOf: () => [] };

const post = jest.spyOn(recoveries, 'POST');
afterEach(() => {
  post.mockReset();
});

function theVerb(kind: string): Verb {
  const verb = TASK_VERBS['close']?.({ task_kind: kind, phase: 'open' }, 'tsk_1');
  if (verb === undefined) throw new Error('nothing can be done about the task');
  return verb;
}

const isAsked =
  (outcome: string) =>
  ({ isRequired = false, when }: Note): boolean =>
    isRequired && (when === undefined || when[1] === outcome);

/** What is sent by somebody who fills in what the form says is required, and nothing else. */
async function sentOf(kind: string, outcome: string): Promise<Pick<CloseTask, 'outcome'> & { readonly content: Json }> {
  const verb = theVerb(kind);
  const notes = (verb.notes ?? []).filter(isAsked(outcome)).map(({ name }) => [name, `${name} in words`]);
  post.mockResolvedValue({ data: {}, response: Response.json({}) });
  await verb.send({ reason: 'why', key: 'k', fields: { ...Object.fromEntries(notes), outcome } });
  // What the verb gave to the client as its body.
  return (post.mock.calls[0]?.[1] as unknown as { readonly body: Awaited<ReturnType<typeof sentOf>> }).body;
}

describe('at the console', () => {
  it.each(KINDS.flatMap((kind) => ['done', 'dropped'].map((outcome) => [kind, outcome] as const)))(
    'a task of kind %s closes as %s with what its form asks for',
    async (kind, outcome) => {
      const { content, ...sent } = await sentOf(kind, outcome);
      const task = { task_kind: kind, phase: 'open' } as TaskDoc; // the rest is not looked at
      const command = { envelope: ENVELOPE, ...sent, content: plainPayload(content), correction_ref: null };
      expect(taskRefusal(task, undefined, command as unknown as CloseTask, CONTEXT)).toBeNull();
      expect(sent.outcome).toBe(outcome);
    },
  );

  it('a correction that is dropped says no more than why it is', async () => {
    expect((await sentOf('correction', 'dropped')).content).toEqual({ message: 'content in words' });
  });
});
