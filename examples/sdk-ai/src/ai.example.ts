// A tool of the Vercel AI SDK under its contract. The model is the kit's own mock, so no key and no network is needed.
import { contractBody, contractDigest } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { guardExecute, MemoryProducer, systemClock } from '@recourse/sdk';
import { generateText, stepCountIs, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

const contract: Contract = {
  name: 'labels.add_label',
  owner: 'issues-team',
  effect: 'An issue carries a label.',
  impact: 'write',
  approval_mode: 'network',
  args_schema: {
    type: 'object',
    properties: { issue: { type: 'integer' }, label: { type: 'string', maxLength: 50 } },
    required: ['issue', 'label'],
    additionalProperties: false,
  },
  result_schema: { type: 'object' },
  reversal_class: 'reversible',
  compensation_mode: { mode: 'approval_required', reason: 'Somebody may have put the label on again.' },
  inverse_capability: 'labels.remove_label',
  reversal_args: { issue: { from: 'args', path: '/issue' }, label: { from: 'args', path: '/label' } },
  reversal_window_ms: 604_800_000,
  stale_check: {
    observe_capability: 'labels.get_labels',
    compares: 'version',
    condition: 'bound.args.label in observed.labels',
  },
  verification: {
    verify_capability: 'labels.get_labels',
    success_condition: '!(bound.args.label in observed.labels)',
    max_attempts: 3,
  },
  idempotency: { mechanism: 'Putting the same label on again changes nothing.' },
  subject: '/issue',
};

export interface Played {
  /** What the model is given as the tool's result. */
  readonly seen: readonly unknown[];
  readonly told: readonly string[];
  readonly labels: readonly string[];
  readonly text: string;
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that calls the tool once and then says that it is done. */
function scriptedModel(): MockLanguageModelV4 {
  const called = {
    type: 'tool-call',
    toolCallId: 'call-1',
    toolName: 'add_label',
    input: JSON.stringify({ issue: 7, label: 'bug' }),
  } as const;
  return new MockLanguageModelV4({
    doGenerate: [
      { content: [called], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: 'text', text: 'Labelled.' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
}

export async function play(): Promise<Played> {
  const labels: string[] = [];
  const producer = new MemoryProducer();
  const addLabel = tool({
    description: 'Adds a label to an issue.',
    inputSchema: z.object({ issue: z.int(), label: z.string() }),
    execute: guardExecute(
      ({ issue, label }: { readonly issue: number; readonly label: string }) => {
        labels.push(`${String(issue)}:${label}`);
        return { node_id: 'node_1' };
      },
      {
        contract,
        contractDigest: contractDigest(contractBody(contract)),
        mode: 'enforce',
        producer,
        clock: systemClock,
        place: (_args, callId) => ({
          run: { tenant: 'issues', runId: 'run-1', agentId: 'triage-agent', initiator: 'asha', objective: 'triage' },
          stepId: callId ?? 'label',
          target: null,
          assumptionRefs: [],
        }),
      },
    ),
  });
  const { steps, text } = await generateText({
    model: scriptedModel(),
    tools: { add_label: addLabel },
    prompt: 'Triage issue 7.',
    stopWhen: stepCountIs(3),
  });
  const seen = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
  return {
    seen,
    told: producer.told.map((event) =>
      event.type === 'ToolExecuted' ? `${event.type} ${event.outcome.outcome}` : event.type,
    ),
    labels,
    text,
  };
}
