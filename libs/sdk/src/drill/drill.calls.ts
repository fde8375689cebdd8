// How a drill calls tools: as a worker would, no longer than their contract lets it wait. A failure is a verdict.
import type { Json } from '@recourse/kernel';
import type { ContractTerms, ObservationPhase } from '@recourse/messages';
import { copyOf } from '../guard/copied.js';
import { isStream, lastOf } from '../tool/streamed.js';
import type { Tool, ToolContext } from '../tool/tool.js';
import { within } from '../within.js';
import { unwrittenIn, writtenAnswer } from '../written.js';
import { drifted, notRun, ofError } from './drill.decisions.js';
import type { DrillVerdict } from './drill.decisions.js';
import type { DrillOptions } from './drill.messages.js';

const REASON = 'drill';

/** The canary as it was made, and what is bound to undo it. */
export interface Made {
  readonly args: Json;
  readonly result: Json;
  readonly externalRef: string | null;
  readonly priorValue: Json | null;
}

/** A call that came back, or what its failure says; `unwritten` where no record would hold its answer whole. */
export type Answered =
  | { readonly kind: 'answered'; readonly value: Json; readonly unwritten: DrillVerdict | null }
  | { readonly kind: 'failed'; readonly verdict: DrillVerdict };

/** The canary, and the arguments bound to undo it. */
export interface BoundStep {
  readonly args: Json;
  readonly made: Made;
  /** What is looked for, where that is not what undoes the canary but the canary itself. */
  readonly about?: ToolContext['about'];
  /** What the stale-state check saw, where the tool is to compare with it while it writes. */
  readonly expected?: Json | undefined;
}

/** The calls of one drill, under the terms of one contract. */
export class DrillCalls {
  constructor(
    private readonly options: DrillOptions,
    private readonly terms: ContractTerms,
  ) {}

  get runId(): string {
    return `drill-${this.options.drillId}`;
  }

  private toolOf(capability: string): Tool | null {
    const { tools } = this.options.kit;
    return (Object.hasOwn(tools, capability) ? tools[capability] : undefined) ?? null;
  }

  /** Calls a capability of the kit, with arguments of its own: what it does to them is seen by no other call. */
  async call(
    capability: string,
    phase: ObservationPhase,
    idempotencyKey: string,
    { args, made, about = 'compensation', expected }: BoundStep,
  ): Promise<Answered> {
    const tool = this.toolOf(capability);
    if (tool === null) return { kind: 'failed', verdict: notRun('the kit has no tool for it') };
    const { tenant } = this.options;
    return this.ask(() =>
      tool(copyOf(args), {
        runId: this.runId,
        tenant,
        callId: idempotencyKey,
        idempotencyKey,
        reason: REASON,
        attempt: 1,
        phase,
        about,
        subjectRef: null,
        externalTransactionRef: made.externalRef,
        ...(expected === undefined ? {} : { expected: copyOf(expected) }),
      }),
    );
  }

  /** An answer that no record would hold whole counts as none. Tools may be written in JavaScript. */
  async ask(ask: () => Promise<unknown>): Promise<Answered> {
    const answered = await this.attempt(ask);
    return answered.kind === 'failed' || answered.unwritten === null
      ? answered
      : { kind: 'failed', verdict: answered.unwritten };
  }

  /** Waits for an answer as long as the contract lets a worker wait. */
  async attempt(ask: () => Promise<unknown>): Promise<Answered> {
    const timeoutMs = this.terms.call_timeout_ms;
    const late: Answered = { kind: 'failed', verdict: notRun(`no answer within ${String(timeoutMs)} ms`) };
    try {
      return await within(this.options.clock, timeoutMs, answerOf(ask), late);
    } catch (error) {
      return { kind: 'failed', verdict: ofError(error) };
    }
  }
}

async function answerOf(ask: () => Promise<unknown>): Promise<Answered> {
  const given = await ask();
  const answer = writtenAnswer(isStream(given) ? await lastOf(given) : given);
  const why = unwrittenIn(answer);
  const unwritten = why === null ? null : drifted('schema', `its answer is no JSON: ${why}`);
  return { kind: 'answered', value: answer.json, unwritten };
}
