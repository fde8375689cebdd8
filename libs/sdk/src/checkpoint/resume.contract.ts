// What every reader of where a run goes on does.
import { describe, expect } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { runCases, type Cases } from '@recourse/testing';
import { ManualClock } from '@recourse/kernel';
import { MemoryProducer } from '../producer/producer.memory.js';
import { createCheckpoints } from './checkpoints.js';
import type { Checkpoints } from './checkpoints.js';
import { MemoryResume } from './resume.memory.js';
import type { FallEvidence, ResumeSource } from './resume.port.js';

export const RUN = { tenant: 'acme', runId: 'run/1 #a', agentId: 'planner', initiator: null, objective: 'go on' };
export const UNSTOCKED: FallEvidence = {
  kind: 'observation',
  source: 'warehouse',
  ref: 'warehouse/east#stocked',
  statement: { pens: 0 },
  stated_at: 5,
};

/** A reader, the record it reads, and who writes that. */
interface Stage {
  readonly source: ResumeSource;
  readonly record: MemoryResume;
  readonly producer: MemoryProducer;
  readonly checkpoints: Checkpoints;
}

const of = async (source: ResumeSource): Promise<unknown> => source.of(RUN.tenant, RUN.runId);

/** Records one step after the other; each state is told as it is given, undefined for none. */
export async function recorded(
  checkpoints: Checkpoints,
  states: readonly (Json | undefined)[],
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const [at, state] of states.entries()) {
    const answer = await checkpoints.record({
      stepId: `step-${String(at)}`,
      producedBy: 'planner',
      ...(state === undefined ? {} : { state }),
    });
    if (answer.admitted) ids.push(answer.commitId);
  }
  return ids;
}

export function resumeContract(
  name: string,
  make: (producer: MemoryProducer, record: MemoryResume) => Promise<ResumeSource>,
): void {
  const stage = async (): Promise<Stage> => {
    const producer = new MemoryProducer();
    const record = new MemoryResume(producer);
    return {
      producer,
      record,
      source: await make(producer, record),
      checkpoints: createCheckpoints({ producer, clock: new ManualClock(1), run: RUN }),
    };
  };
  describe(`where a run goes on "${name}"`, () => runCases(CASES, stage));
}

const CASES: Cases<Stage> = {
  'is nowhere while nothing is on record, and for another tenant': async ({ source, checkpoints }) => {
    expect(await of(source)).toEqual({ kind: 'unrecorded' });
    await recorded(checkpoints, [{ a: 1 }]);
    expect(await source.of('globex', RUN.runId)).toEqual({ kind: 'unrecorded' });
  },

  'is the last checkpoint while all stand': async ({ source, checkpoints }) => {
    const [, last] = await recorded(checkpoints, [{ a: 1 }, { a: 1, b: 2 }]);
    expect(await of(source)).toEqual({
      kind: 'known',
      resumed: {
        checkpoint: { run_id: RUN.runId, commit_id: last },
        state: { a: 1, b: 2 },
        stateUnavailable: null,
        evidence: [],
        rolledBack: [],
      },
    });
  },

  'is before the offender: what fell is not in the state, and why is told (E11, E33)': async ({
    source,
    record,
    checkpoints,
  }) => {
    const [first, offender = '', child] = await recorded(checkpoints, [
      { a: 1 },
      { a: 1, warehouse: 'east' },
      { a: 1, warehouse: 'east', carrier: 'x' },
    ]);
    record.rollBack(offender, UNSTOCKED);
    expect(await of(source)).toEqual({
      kind: 'known',
      resumed: {
        checkpoint: { run_id: RUN.runId, commit_id: first },
        state: { a: 1 },
        stateUnavailable: null,
        rolledBack: [offender, child],
        evidence: [offender, child].map((commit_id) => ({
          commit_id,
          rollback_id: 'rb_1',
          evidence: UNSTOCKED,
          ref_stands: false,
        })),
      },
    });
  },

  'says of what spoke against a step whether it holds again': async ({ source, record, producer, checkpoints }) => {
    const [offender = ''] = await recorded(checkpoints, [{ warehouse: 'east' }]);
    record.rollBack(offender, UNSTOCKED);
    const standing = async (): Promise<unknown> => {
      const answer = await source.of(RUN.tenant, RUN.runId);
      return answer.kind === 'known' ? answer.resumed.evidence.map(({ ref_stands }) => ref_stands) : answer;
    };
    const about = { tenant: RUN.tenant, ref: 'warehouse/east#stocked', statement: { pens: 3 } };
    await producer.assumptionReaffirmed({ ...about, statedAt: 6 });
    expect(await standing()).toEqual([true]);
    await producer.assumptionInvalidated({ ...about, statedAt: 7 });
    expect(await standing()).toEqual([false]);
  },

  'is its beginning when the first checkpoint fell': async ({ source, record, checkpoints }) => {
    const [first = ''] = await recorded(checkpoints, [{ a: 1 }, { a: 2 }]);
    record.rollBack(first, UNSTOCKED);
    expect(await of(source)).toMatchObject({ resumed: { checkpoint: null, state: null, stateUnavailable: null } });
  },

  'is without a state where none was told, or not all of it came': async ({ source, producer, checkpoints }) => {
    await recorded(checkpoints, [undefined]);
    expect(await of(source)).toMatchObject({ resumed: { state: null, stateUnavailable: 'no_state' } });
    const halved = createCheckpoints({
      producer: {
        checkpointTaken: (taken) => producer.checkpointTaken(taken),
        stateChunk: () => Promise.resolve('lost'),
        assumptionDeclared: () => Promise.resolve(''),
      },
      clock: new ManualClock(2),
      run: RUN,
    });
    await recorded(halved, [{ long: 'x'.repeat(200_000) }]);
    expect(await of(source)).toMatchObject({ resumed: { state: null, stateUnavailable: 'state_unavailable' } });
  },

  'cannot be said when the record is away': async ({ source, record }) => {
    record.isAway = true;
    expect(await of(source)).toMatchObject({ kind: 'unavailable' });
  },
};
