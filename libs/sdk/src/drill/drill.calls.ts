// How a drill calls tools: as a worker would, no longer than their contract lets it wait. A failure is a verdict.
import type { Json } from '@recourse/kernel';
import type { ContractTerms, ObservationPhase } from '@recourse/messages';
import { asAnswered, copyOf } from '../guard/copied.js';
import { isJson } from '../guard/recorded.js';
import type { Tool } from '../tool/tool.js';
import { within } from '../within.js';
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

/** A call that came back, or what its failure says. */
export type Answered =
  { readonly kind: 'answered'; readonly value: Json } | { readonly kind: 'failed'; readonly verdict: DrillVerdict };

/** The canary, and the arguments bound to undo it. */
export interface BoundStep {
  readonly args: Json;
  readonly made: Made;
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
    { args, made }: BoundStep,
  ): Promise<Answered> {
    const tool = this.toolOf(capability);
    if (tool === null) return { kind: 'failed', verdict: notRun('the kit has no tool for it') };
    const { tenant } = this.options;
    const answered = await this.attempt(() =>
      tool(copyOf(args), {
        runId: this.runId,
        tenant,
        callId: idempotencyKey,
        idempotencyKey,
        reason: REASON,
        attempt: 1,
        phase,
        about: 'compensation',
        subjectRef: null,
        externalTransactionRef: made.externalRef,
      }),
    );
    return recordable(answered);
  }

  /** Waits for an answer as long as the contract lets a worker wait. */
  async attempt(ask: () => Promise<Json>): Promise<Answered> {
    const timeoutMs = this.terms.call_timeout_ms;
    const late: Answered = { kind: 'failed', verdict: notRun(`no answer within ${String(timeoutMs)} ms`) };
    try {
      const answer = ask().then((given): Answered => ({ kind: 'answered', value: asAnswered(given) }));
      return await within(this.options.clock, timeoutMs, answer, late);
    } catch (error) {
      return { kind: 'failed', verdict: ofError(error) };
    }
  }
}

/** What is no JSON fits no record of a worker's. Tools may be written in JavaScript. */
function recordable(answered: Answered): Answered {
  if (answered.kind === 'failed') return answered;
  const value: unknown = answered.value;
  if (value !== undefined && isJson(value)) return answered;
  return { kind: 'failed', verdict: drifted('schema', 'its answer is no JSON') };
}
