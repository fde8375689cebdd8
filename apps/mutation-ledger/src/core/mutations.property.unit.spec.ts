// Any interleaving of statements and executions: what is contradicted is what the oracle, which knows no positions, says.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RecordInput } from '@recourse/event-log';
import type { Evidence } from '@recourse/messages';
import { WAYS, eachMember } from '@recourse/testing';
import { executed, ledger, NOW, refund, statement, isHit } from './ledger.testing.js';
import { mutationIdOf } from '../core.js';

const REFS = ['r0', 'r1', 'r2'] as const;
const RUNS = ['run-a', 'run-b'] as const;
/** The last ref has a partition of its own, so that positions of partitions differ. */
const partitioner = (ref: string): number => (ref === 'r2' ? 1 : 0);

type Step =
  | {
      readonly do: 'state';
      readonly ref: number;
      readonly verdict: 'holds' | 'invalidated';
      readonly run: number | null;
    }
  | { readonly do: 'execute'; readonly run: number; readonly refs: readonly number[] }
  /** Feeds the next unread statement of a partition, out of the log the view is ahead in. */
  | { readonly do: 'read'; readonly partition: number }
  | { readonly do: 'repeat' }
  | { readonly do: 'timers' };

const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('state' as const),
        ref: fc.nat(2),
        verdict: fc.constantFrom('holds' as const, 'invalidated' as const, 'invalidated' as const),
        run: fc.option(fc.nat(1)),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('execute' as const),
        run: fc.nat(1),
        refs: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('read' as const), partition: fc.nat(1) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'repeat' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'timers' as const }) },
  ),
  { minLength: 12, maxLength: 60, size: 'max' },
);

/** What must be contradicted: by every invalidation stated after the execution, and by the latest that stands when it is recorded. */
class Oracle {
  private readonly commits: { readonly id: string; readonly run: string; readonly refs: readonly string[] }[] = [];
  private readonly standing = new Map<
    string,
    { readonly verdict: string; readonly eventId: string; readonly at: number }
  >();
  private at = 0;
  readonly expected: string[] = [];

  state(ref: string, verdict: string, run: string | null, eventId: string): void {
    this.standing.set(`${ref}/${run ?? ''}`, { verdict, eventId, at: (this.at += 1) });
    if (verdict !== 'invalidated') return;
    for (const commit of this.commits)
      if (commit.refs.includes(ref) && (run === null || run === commit.run))
        this.expected.push(`${commit.id} by ${eventId}`);
  }

  execute(id: string, run: string, refs: readonly string[]): void {
    this.commits.push({ id, run, refs });
    for (const ref of refs) {
      const invalid = [`${ref}/`, `${ref}/${run}`]
        .flatMap((scope) => this.standing.get(scope) ?? [])
        .filter((one) => one.verdict === 'invalidated')
        .sort((a, b) => b.at - a.at);
      if (invalid[0] !== undefined) this.expected.push(`${id} by ${invalid[0].eventId}`);
    }
  }
}

/** Plays the steps, then reads all that was stated; answers with what was contradicted and what should be. */
function play(
  plan: readonly Step[],
  isRebuilt: boolean,
): { readonly came: readonly string[]; readonly expected: readonly string[] } {
  const { run, assumptions } = ledger({ isRebuilt, partitioner, effectsMax: 2 });
  const oracle = new Oracle();
  const unread: RecordInput[][] = [[], []];
  let fed: RecordInput | undefined;
  let at = NOW;
  const read = (partition: number): void => {
    fed = unread[partition]?.shift() ?? fed;
    if (fed !== undefined) run.when(fed, (at += 1));
  };
  plan.forEach((step, index) => {
    switch (step.do) {
      case 'state': {
        const ref = REFS[step.ref] ?? '';
        const scope = step.run === null ? null : (RUNS[step.run] ?? null);
        unread[partitioner(ref)]?.push(
          assumptions.append(ref, statement(step.verdict, `e${index}`, { ref, run_id: scope })),
        );
        oracle.state(ref, step.verdict, scope, `e${index}`);
        break;
      }
      case 'execute': {
        const event = refund({
          run_id: RUNS[step.run] ?? '',
          effect_key: `effect-${index}`,
          assumption_refs: step.refs.map((ref) => REFS[ref] ?? ''),
        });
        run.when(executed(event), (at += 1));
        oracle.execute(mutationIdOf(event), event.run_id, event.assumption_refs);
        break;
      }
      case 'read':
        read(step.partition);
        break;
      case 'repeat':
        if (fed !== undefined) run.when(fed, (at += 1));
        break;
      case 'timers':
        run.whenDue((at += 1));
        break;
    }
  });
  for (const partition of [0, 1]) while ((unread[partition]?.length ?? 0) > 0) read(partition);
  run.whenDue((at += 1));
  const came = eachMember(run.records())
    .filter(isHit)
    .map(({ body }) => `${String(body.mutation_id)} by ${(body.evidence as Evidence).event_id}`);
  return { came, expected: oracle.expected };
}

describe.each(WAYS)('any interleaving of statements and executions, $way', ({ isRebuilt }) => {
  it('contradicts each commit exactly once by each invalidation that it was not judged with', () => {
    fc.assert(
      fc.property(steps, (plan) => {
        const { came, expected } = play(plan, isRebuilt);
        expect([...came].sort()).toEqual([...expected].sort());
      }),
      { numRuns: isRebuilt ? 25 : 200 },
    );
  });
});
