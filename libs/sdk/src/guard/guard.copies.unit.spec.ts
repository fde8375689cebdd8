// What a tool does to what it was given, or its caller to what they gave, is told of nowhere.
import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { Failure, JSON_DEPTH_MAX } from '@recourse/kernel';
import type { Told } from '../producer/producer.memory.js';
import { ToolRejected } from '../tool/tool.js';
import { MemoryApprovals } from './approval.memory.js';
import type { Approvals } from './approval.port.js';
import { MemoryBudget } from './budget.memory.js';
import { guard } from './guard.js';
import type { ForwardTool, GuardedCall } from './guard.messages.js';
import { refund, refundCall } from './guard.testing.js';

interface Refund {
  order: string;
  amount_minor: number;
}

/** As a provider that takes major units is served: in place. */
function inMajorUnits(args: unknown): void {
  const given = args as Refund;
  given.amount_minor /= 100;
}

const PLANNED = { order: '4711', amount_minor: 500_000 };
const argsOf = (told: readonly Told[]): readonly Json[] =>
  told.flatMap((event) => ('action' in event ? [event.action.args] : []));

describe('a tool that changes its arguments in place', () => {
  const seen: Json[] = [];
  /** Sees its arguments, and changes them. */
  const changes = (args: unknown): void => {
    seen.push({ ...(args as Refund) });
    inMajorUnits(args);
  };
  const changing: Partial<ForwardTool> = {
    schema: {
      '~standard': {
        validate: (args) => {
          changes(args);
          return {};
        },
      },
    },
    capturePriorValue: (args) => {
      changes(args);
      return Promise.resolve(null);
    },
    rehearse: (args) => {
      changes(args);
      return Promise.resolve({ would: 'refund' });
    },
    stage: (args) => {
      changes(args);
      return Promise.resolve('hold_9');
    },
    unstage: (args) => {
      changes(args);
      return Promise.resolve();
    },
    execute: (args) => {
      changes(args);
      return Promise.resolve({ refund_id: 'rf_secret' });
    },
  };

  it('is told with those that were planned, and each of its functions has them', async () => {
    seen.length = 0;
    const { run, producer } = refund({
      contract: { techniques: { dry_run_capability: 'payments.preview_refund' } },
      tool: changing,
    });
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect(seen).toEqual([PLANNED, PLANNED, PLANNED, PLANNED]);
    expect(argsOf(producer.told)).toEqual([PLANNED, PLANNED]);
  });

  it('stages, and gives back what it staged, with those that were planned', async () => {
    seen.length = 0;
    const { run, producer } = refund({
      contract: {
        reversal_class: 'compensable',
        commit_hold_ms: 60_000,
        cancel_capability: 'payments.cancel_refund',
        techniques: { reservation: true },
      },
      tool: changing,
    });
    producer.toolPlanned = () => Promise.reject(new Failure('KEY_NOT_BELIEVED', 'it is not sent'));
    expect(await run()).toMatchObject({ code: 'INTENT_NOT_PUBLISHED' });
    // Schema, prior value, stage and unstage.
    expect(seen).toEqual([PLANNED, PLANNED, PLANNED, PLANNED]);
  });

  it('has all that was reserved given back when it fails, whatever it made of the amount', async () => {
    const budget = new MemoryBudget(500_000);
    const execute: ForwardTool['execute'] = (args) => {
      Object.assign(args as object, { amount_minor: 0.5 });
      return Promise.reject(new ToolRejected('CLOSED', 'closed'));
    };
    await refund({ options: { budget }, tool: { execute } }).run({ args: { ...PLANNED } });
    expect(await refund({ options: { budget } }).run({ stepId: 'other' })).toMatchObject({ kind: 'succeeded' });
  });

  it('leaves those of its caller alone, in every mode', async () => {
    for (const mode of ['off', 'observe', 'enforce'] as const) {
      const args = { ...PLANNED };
      await refund({ tool: changing, options: { mode } }).run({ args });
      expect(args).toEqual(PLANNED);
    }
  });
});

describe('a tool that goes on with what it answered', () => {
  /** Answers with a row that it keeps, and changes it as soon as it has answered. */
  const kept = () => {
    const row = { refund_id: 'rf_secret', limit: 3 };
    const later = (): Promise<Json> => {
      void Promise.resolve().then(async () => {
        await Promise.resolve();
        row.limit = 99;
      });
      return Promise.resolve(row);
    };
    return { row, later };
  };

  it('is told, and shown to its caller, with what it answered', async () => {
    const { row, later } = kept();
    const { run, producer } = refund({ tool: { execute: later } });
    expect(await run()).toMatchObject({ kind: 'succeeded', value: { limit: 3 } });
    expect(producer.told.at(-1)).toMatchObject({ outcome: { result: { limit: 3 } } });
    expect(row.limit).toBe(99);
  });

  it('overwrites a prior value that stays as it was read, and a dry run as it was shown', async () => {
    const row = { limit: 3 };
    const rehearsed = { would: 'set' };
    const approvals = new MemoryApprovals();
    const { run, producer } = refund({
      contract: {
        overwrites: true,
        requires_prior_value_capture: true,
        forward_approval: 'human',
        techniques: { dry_run_capability: 'payments.preview_refund' },
      },
      options: { approvals },
      tool: {
        capturePriorValue: () => Promise.resolve(row),
        rehearse: () => Promise.resolve(rehearsed),
        execute: () => {
          row.limit = 99;
          rehearsed.would = 'have set';
          return Promise.resolve({ refund_id: 'rf_secret' });
        },
      },
    });
    await run();
    for (const question of approvals.open()) approvals.approve(question);
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect(producer.told).toMatchObject([
      { preparation: { priorValue: { limit: 3 }, rehearsal: { would: 'set' } } },
      { outcome: { priorValue: { limit: 3 } } },
    ]);
  });

  it('has its handle read off the very answer it gave, and hidden as it was read', async () => {
    const answer = { refund_id: 'rf_secret', note: 'under rf_secret' };
    const asked: unknown[] = [];
    const { run, producer } = refund({
      tool: {
        execute: () => Promise.resolve(answer),
        externalTransactionRef: (given) => {
          asked.push(given);
          const { refund_id } = answer;
          answer.refund_id = 'changed';
          return refund_id;
        },
      },
    });
    expect(await run()).toMatchObject({ kind: 'succeeded', value: { note: 'under …' } });
    expect([asked.length, asked[0] === answer]).toEqual([1, true]);
    expect(producer.told.at(-1)).toMatchObject({
      outcome: { externalTransactionRef: 'rf_secret', result: { refund_id: 'rf_secret' } },
    });
  });
});

describe('a caller who changes what they gave while the guard asks', () => {
  it.each(['observe', 'enforce'] as const)('has made the call they made: %s', async (mode) => {
    const given = {
      ...refundCall,
      args: { ...PLANNED },
      assumptionRefs: ['order/4711#not_shipped'],
      derivedFrom: [{ runId: 'run-0', mutationId: 'mut_0' }],
    };
    const executed: Json[] = [];
    const { options, producer } = refund();
    // What is asked is answered once the caller has gone on.
    const approvals: Approvals = {
      ask: async ({ actionDigest }) => {
        inMajorUnits(given.args);
        given.assumptionRefs.push('order/1#other');
        given.derivedFrom.pop();
        await Promise.resolve();
        return { kind: 'approved', actionDigest };
      },
    };
    const execute: ForwardTool['execute'] = (args) => {
      executed.push(args);
      return Promise.resolve({ refund_id: 'rf_secret' });
    };
    const guarded = guard(
      { execute, externalTransactionRef: () => 'rf_secret' },
      { ...options, mode, approvals, contract: { ...options.contract, forward_approval: 'human' } },
    );
    expect(await guarded(given satisfies GuardedCall)).toMatchObject({ kind: 'succeeded' });
    expect([executed, given.args.amount_minor]).toEqual([[PLANNED], 5_000]);
    expect(producer.told).toMatchObject(
      ['ToolPlanned', 'ToolExecuted'].map((type) => ({
        type,
        action: {
          args: PLANNED,
          assumptionRefs: ['order/4711#not_shipped'],
          derivedFrom: [{ runId: 'run-0', mutationId: 'mut_0' }],
        },
      })),
    );
  });

  it.each([1, 1_000, 100_000])('is refused what is %i levels deeper than anybody reads', async (more) => {
    let args: Json = 1;
    for (let level = 0; level < JSON_DEPTH_MAX + more; level += 1) args = [args];
    expect(await refund().run({ args })).toMatchObject({ kind: 'refused', code: 'ARGS_INVALID' });
  });
});
