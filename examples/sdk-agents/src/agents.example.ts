// A function tool of the OpenAI Agents SDK under its contract. The model is scripted here, so no key and no network is needed.
import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents-core';
import type { Model, ModelResponse } from '@openai/agents-core';
import { contractBody, contractDigest } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { guardExecute, MemoryProducer, systemClock } from '@recourse/sdk';
import type { Approvals } from '@recourse/sdk';
import { z } from 'zod';

const contract: Contract = {
  name: 'mail.send_message',
  owner: 'mail-team',
  effect: 'Somebody gets a message.',
  impact: 'customer_visible',
  approval_mode: 'network',
  args_schema: {
    type: 'object',
    properties: { to: { type: 'string' }, text: { type: 'string' } },
    required: ['to', 'text'],
    additionalProperties: false,
  },
  result_schema: { type: 'object' },
  reversal_class: 'irreversible',
  compensation_mode: { mode: 'not_supported', reason: 'What was read stays read.', accepted_by: 'mail-team' },
  forward_approval: 'human',
  idempotency: { mechanism: 'By key.' },
  subject: '/to',
};

/** A person who lets every message go. In production: HttpApprovals, and somebody who reads them. */
const generous: Approvals = { ask: ({ actionDigest }) => Promise.resolve({ kind: 'approved', actionDigest }) };

export interface Played {
  /** What the model is given as the tool's result. */
  readonly seen: readonly unknown[];
  readonly told: readonly string[];
  readonly text: string | undefined;
}

/** A model that calls the tool once and then says that it is done. */
function scriptedModel(): Model {
  const answers: ModelResponse['output'][] = [
    [
      {
        type: 'function_call',
        callId: 'call-1',
        name: 'send_message',
        arguments: JSON.stringify({ to: 'asha', text: 'shipped' }),
        status: 'completed',
      },
    ],
    [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Sent.' }] }],
  ];
  return {
    getResponse: () => Promise.resolve({ usage: new Usage(), output: answers.shift() ?? [] }),
    getStreamedResponse: () => {
      throw new Error('this model does not stream');
    },
  };
}

/** `isDown`: the mail server breaks off, and nobody knows whether the message went out. */
export async function play(isDown = false): Promise<Played> {
  setTracingDisabled(true);
  const producer = new MemoryProducer();
  const sendMessage = tool({
    name: 'send_message',
    description: 'Sends a message.',
    parameters: z.object({ to: z.string(), text: z.string() }),
    execute: guardExecute(
      () => (isDown ? Promise.reject(new Error('socket hang up')) : Promise.resolve({ message_id: 'msg_1' })),
      {
        contract,
        contractDigest: contractDigest(contractBody(contract)),
        mode: 'enforce',
        producer,
        clock: systemClock,
        approvals: generous,
        place: (_args, callId) => ({
          run: {
            tenant: 'mail',
            runId: 'run-1',
            agentId: 'mail-agent',
            initiator: 'asha',
            objective: 'tell the customer',
          },
          stepId: callId ?? 'send',
          target: null,
          assumptionRefs: ['order/7#shipped'],
        }),
      },
    ),
  });
  const agent = new Agent({
    name: 'mail-agent',
    instructions: 'Tell the customer.',
    tools: [sendMessage],
    model: scriptedModel(),
  });
  const result = await new Runner({ tracingDisabled: true }).run(agent, 'Order 7 was shipped.');
  const seen = result.newItems.flatMap((item) => (item.type === 'tool_call_output_item' ? [item.output] : []));
  return {
    seen,
    told: producer.told.map((event) =>
      event.type === 'ToolExecuted' ? `${event.type} ${event.outcome.outcome}` : event.type,
    ),
    text: result.finalOutput,
  };
}
