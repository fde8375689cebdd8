import { describe, expect, it } from '@jest/globals';
import { happened, notHappened, plainPayload, readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { ManualClock } from '@recourse/kernel';
import type { LegRequested, LegStep, StepReport } from '@recourse/messages';
import type { ForwardContext, ForwardTool } from '../guard/guard.messages.js';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { runLeg } from './leg-runner.js';
import { legOf, legStep } from './legs.testing.js';
import { ToolRejected } from '../tool/tool.js';
import type { Tool } from '../tool/tool.js';

const ISSUE = 'payments.issue_refund';
const ARGS: Json = { order: '4711', amount_minor: 500 };

/** A leg about a forward call, as the ledger asks for it. */
function forwardLeg(kind: LegRequested['kind'], step: Partial<LegStep> = {}): LegRequested {
  const call = {
    ...legStep().call,
    capability: ISSUE,
    args: plainPayload(ARGS),
    call_id: 'call_1',
    idempotency_key: 'key_1',
  };
  return legOf({
    kind,
    leg_id: 'ask_1',
    steps: [
      legStep({
        step_id: 'mut_1',
        call,
        external_transaction_ref: null,
        success_condition: null,
        stale_capability: null,
        stale_condition: null,
        ...step,
      }),
    ],
  });
}

async function run(
  leg: LegRequested,
  parts: { readonly forward?: ForwardTool['execute']; readonly tools?: Readonly<Record<string, Tool>> },
): Promise<StepReport> {
  const forwardTools =
    parts.forward === undefined
      ? {}
      : {
          [ISSUE]: {
            execute: parts.forward,
            externalTransactionRef: (result: Json) => String((result as { readonly id?: string }).id),
          },
        };
  const report = await runLeg(leg, {
    workerId: 'w',
    tools: parts.tools ?? {},
    forwardTools,
    clock: new ManualClock(1_000),
    claimStore: new MemoryClaimStore(),
    callTimeoutMs: 500,
  });
  const [step] = report.steps;
  if (step === undefined) throw new Error('no step');
  return step;
}

describe('a held effect', () => {
  it('goes through the forward tool under its own key, and its handle comes back', async () => {
    const heard: ForwardContext[] = [];
    const step = await run(forwardLeg('release', { external_transaction_ref: 'staged_1' }), {
      forward: (args, context) => {
        heard.push(context);
        return Promise.resolve({ id: 'tx_1', args });
      },
    });
    expect(step).toMatchObject({
      outcome: 'verified',
      external_transaction_ref: 'tx_1',
      observations: [{ phase: 'execute', capability: ISSUE }],
    });
    expect(step.observations.map(({ observed }) => readPayload(observed))).toEqual([{ id: 'tx_1', args: ARGS }]);
    expect(heard).toEqual([{ idempotencyKey: 'key_1', callId: 'call_1', runId: 'run-1', stagedRef: 'staged_1' }]);
  });

  it('that its tool refused, or answered with an error, did not happen; of any other error nobody knows', async () => {
    expect(
      await run(forwardLeg('release'), { forward: () => Promise.reject(new ToolRejected('LIMIT', 'too much')) }),
    ).toMatchObject({ outcome: 'failed', error_kind: 'TOOL_REJECTED' });
    expect(await run(forwardLeg('release'), { forward: () => Promise.reject(new Error('500')) })).toMatchObject({
      outcome: 'unknown',
      error_kind: 'TOOL_ERROR',
      external_transaction_ref: null,
    });
    expect(await run(forwardLeg('release'), {})).toMatchObject({ outcome: 'not_executed', error_kind: 'TOOL_MISSING' });
  });

  it('of a tool that streams is run to its end, as a guard runs it, and so is any tool of a worker', async () => {
    const acted: string[] = [];
    // The tools of a kit may stream what they answer, and a worker takes them as they are.
    const streaming = async function* (): AsyncGenerator<Json> {
      yield { status: 'working' };
      await Promise.resolve();
      acted.push('acted');
      yield { id: 'tx_1' };
    };
    const forward = streaming as unknown as ForwardTool['execute'];
    expect(await run(forwardLeg('release'), { forward })).toMatchObject({
      outcome: 'verified',
      external_transaction_ref: 'tx_1',
    });
    const { observations } = await run(forwardLeg('release'), { tools: { [ISSUE]: streaming as unknown as Tool } });
    expect(observations.map(({ observed }) => readPayload(observed))).toEqual([{ id: 'tx_1' }]);
    expect(acted).toEqual(['acted', 'acted']);
  });

  it('may go through a plain tool of the worker, without a handle', async () => {
    expect(
      await run(forwardLeg('release'), { tools: { [ISSUE]: () => Promise.resolve({ id: 'tx_1' }) } }),
    ).toMatchObject({ outcome: 'verified', external_transaction_ref: null });
  });
});

describe('a look for the ledger', () => {
  const look = (answer: Json): Promise<StepReport> =>
    run(forwardLeg('reconcile'), { tools: { 'payments.get_refund': () => Promise.resolve(answer) } });

  it('finds that a forward call happened, that it did not, or does not know', async () => {
    expect((await look(happened({ id: 'tx_1' }, 'tx_1'))).outcome).toBe('verified');
    expect((await look(notHappened())).outcome).toBe('unverified');
    for (const answer of [
      null,
      { id: 'tx_1' },
      { happened: 'yes' },
      { happened: true, external_transaction_ref: 7 },
      [true],
    ] as const)
      expect(await look(answer)).toMatchObject({ outcome: 'unknown', error_kind: 'CONDITION_FAILED' });
  });

  it('judges a precondition with the arguments of the call', async () => {
    const step = { verify_capability: 'payments.get_limit', success_condition: 'observed.limit >= args.amount_minor' };
    const observe = (limit: number): Promise<StepReport> =>
      run(forwardLeg('observe', step), { tools: { 'payments.get_limit': () => Promise.resolve({ limit }) } });
    expect((await observe(500)).outcome).toBe('verified');
    expect((await observe(499)).outcome).toBe('unverified');
  });
});

describe('a forward tool of a class', () => {
  it('reads its handle as one of its own methods, and whoever reads the report hears what is wrong with one', async () => {
    class Refunds implements ForwardTool {
      private readonly member: string;
      constructor(member: string) {
        this.member = member;
      }
      execute(): Promise<Json> {
        return Promise.resolve({ id: 'rf_9', parts: ['a'] });
      }
      externalTransactionRef(result: Json): string | null {
        return (result as Readonly<Record<string, string>>)[this.member] ?? null;
      }
    }
    const told = [];
    for (const member of ['id', 'parts']) {
      const { steps } = await runLeg(forwardLeg('release'), {
        workerId: 'w',
        tools: {},
        forwardTools: { [ISSUE]: new Refunds(member) },
        clock: new ManualClock(1_000),
        claimStore: new MemoryClaimStore(),
        callTimeoutMs: 500,
      });
      told.push(...steps.map((step) => [step.outcome, step.external_transaction_ref, step.detail]));
    }
    expect(told).toEqual([
      ['verified', 'rf_9', null],
      ['verified', null, expect.stringContaining('a list')],
    ]);
  });
});
