import { describe, expect, it } from '@jest/globals';
import { autonomyPolicy, RUNGS } from '@recourse/contract';
import type { Rung, Standing } from '@recourse/messages';
import fc from 'fast-check';
import { SIGNAL_WEIGHTS, SIGNALS, WHOLE_PPM } from './autonomy.messages.js';
import type { SignalName } from './autonomy.messages.js';
import { reconsidered, rungEarned, rungInForce, scoreOf } from './standing.decisions.js';
import type { Happening, TaskFacts } from './standing.decisions.js';

const KIND = 'refund_order';
const HOUR = 3_600_000;

function taskWith(written: object = {}, reversibility = 0): TaskFacts {
  const policy = autonomyPolicy({ capabilities: ['x.do_it'], ...written }, KIND);
  return { policy, version: 1, reversibility: { value_ppm: reversibility * WHOLE_PPM, source: null } };
}
function said(signal: SignalName, value: number, at = 1): Happening {
  const stated_ppm = Math.round(value * WHOLE_PPM);
  return {
    kind: 'said',
    signal,
    said: { stated_ppm, source: 'critic', event_id: `${signal}-${String(at)}`, stated_at: at },
  };
}
/** The scores of the source: .9/1/.85/.9/.5/.2/.3; reversibility comes with the task. */
const SAMPLE = {
  evidence_confidence: 0.9,
  policy_confidence: 1,
  eval_score: 0.85,
  tool_reliability: 0.9,
  task_risk: 0.2,
  user_impact: 0.3,
} as const;
const PERFECT = {
  evidence_confidence: 1,
  policy_confidence: 1,
  eval_score: 1,
  tool_reliability: 1,
  approval_history: 1,
  task_risk: 0,
  user_impact: 0,
} as const;

function after(happenings: readonly Happening[], task: TaskFacts, now = HOUR): Standing {
  const told = happenings.reduce<Standing | null>((so, each) => reconsidered(so, each, task, now), null);
  if (told === null) throw new Error('nothing happened');
  return told;
}
function scored(values: Readonly<Partial<Record<SignalName, number>>>, task: TaskFacts): Standing {
  return after(
    Object.entries(values).map(([name, value]) => said(name as SignalName, value)),
    task,
  );
}

describe('the score', () => {
  it('of the sample is 0.71 (D32)', () => {
    expect(scored(SAMPLE, taskWith({}, 0.5)).score_ppm).toBe(710_000);
  });

  it('has eight signals, of which five earn, one more is the history of approvals, and two spend (D31)', () => {
    expect(SIGNALS).toHaveLength(8);
    expect(
      Object.values(SIGNAL_WEIGHTS)
        .filter((weight) => weight > 0)
        .reduce((sum, each) => sum + each, 0),
    ).toBe(100);
    expect(Object.values(SIGNAL_WEIGHTS).filter((weight) => weight < 0)).toEqual([-10, -10]);
  });

  it('counts what nobody said as nothing earned, and as all there is to spend', () => {
    const { signals, score_ppm } = scored({ evidence_confidence: 1 }, taskWith());
    expect(score_ppm).toBe(200_000 - 200_000);
    expect(signals.map(({ value_ppm }) => value_ppm)).toEqual([WHOLE_PPM, 0, 0, 0, 0, WHOLE_PPM, WHOLE_PPM, 0]);
  });

  it('takes reversibility from the contract alone (D35)', () => {
    for (const [reversibility, score] of [
      [1, 785_000],
      [0.5, 710_000],
      [0, 635_000],
    ] as const)
      expect(scored(SAMPLE, taskWith({}, reversibility)).score_ppm).toBe(score);
  });
});

describe('a rung (D33)', () => {
  it.each([
    [299_999, 'read'],
    [300_000, 'recommend'],
    [499_999, 'recommend'],
    [500_000, 'draft'],
    [649_999, 'draft'],
    [650_000, 'execute_with_approval'],
    [799_999, 'execute_with_approval'],
    [800_000, 'auto_execute'],
    [-200_000, 'read'],
  ] as const)('is earned from its threshold on, equality included: %d is %s (G9)', (score, rung) => {
    expect(rungEarned(score, taskWith().policy)).toBe(rung);
  });

  it('has thresholds of its kind of task', () => {
    const thresholds = { recommend: 100, draft: 200, execute_with_approval: 700, auto_execute: 1_000 };
    expect(scored(SAMPLE, taskWith({ thresholds }, 0.5)).rung).toBe('execute_with_approval');
    expect(scored({ ...PERFECT, approval_history: 0.99 }, taskWith({ thresholds }, 1)).rung).toBe(
      'execute_with_approval',
    );
    expect(scored(PERFECT, taskWith({ thresholds }, 1)).rung).toBe('auto_execute');
  });
});

describe('a cap (D34)', () => {
  const cap = (name: string, rung: Rung) => ({ name, rung, reason: 'r' });

  it.each([
    ['none', [], 'auto_execute', null],
    ['one', [cap('pilot', 'draft')], 'draft', 'policy:pilot'],
    [
      'the lowest of several',
      [cap('pilot', 'draft'), cap('law', 'recommend'), cap('new', 'draft')],
      'recommend',
      'policy:law',
    ],
    ['the first of those alike', [cap('pilot', 'draft'), cap('new', 'draft')], 'draft', 'policy:pilot'],
    ['one that is no lower than what was earned', [cap('wide', 'auto_execute')], 'auto_execute', null],
  ] as const)('holds a perfect score and says so: %s', (_how, caps, rung, capped_by) => {
    expect(scored(PERFECT, taskWith({ caps }, 1))).toMatchObject({ earned: 'auto_execute', rung, capped_by });
  });

  it('names nothing where the score is below it anyway', () => {
    expect(scored(SAMPLE, taskWith({ caps: [cap('pilot', 'auto_execute')] }, 0.5)).capped_by).toBeNull();
  });

  it('that was tightened since counts at once, and one that was lifted only with the next record', () => {
    const standing = scored(PERFECT, taskWith({ caps: [cap('pilot', 'execute_with_approval')] }, 1));
    expect(rungInForce(standing, taskWith({ caps: [cap('law', 'read')] }, 1), HOUR)).toEqual({
      rung: 'read',
      capped_by: 'policy:law',
    });
    expect(rungInForce(standing, taskWith({}, 1), HOUR)).toEqual({
      rung: 'execute_with_approval',
      capped_by: 'policy:pilot',
    });
  });
});

describe('a violation (D36)', () => {
  it.each(RUNGS.map((rung, at) => [rung, RUNGS[Math.max(0, at - 1)]] as const))(
    'takes %s one rung, to %s',
    (rung, next) => {
      const capped = scored(PERFECT, taskWith({ caps: [{ name: 'c', rung, reason: 'r' }] }, 1));
      expect(capped.rung).toBe(rung);
      expect(reconsidered(capped, { kind: 'violation' }, taskWith({}, 1), HOUR)).toMatchObject({
        rung: next,
        held_at: next,
      });
    },
  );

  it.each(RUNGS)('of safety takes %s to read', (rung) => {
    const capped = scored(PERFECT, taskWith({ caps: [{ name: 'c', rung, reason: 'r' }] }, 1));
    expect(reconsidered(capped, { kind: 'safety_violation' }, taskWith({}, 1), HOUR).rung).toBe('read');
  });

  it('holds whatever is said until its time is over, and says so', () => {
    const task = taskWith({ hold_ms: HOUR }, 1);
    const fallen = reconsidered(scored(PERFECT, task), { kind: 'violation' }, task, HOUR);
    expect(fallen).toMatchObject({ capped_by: 'violation', held_until: 2 * HOUR, reconsider_at: 2 * HOUR });
    const praised = reconsidered(fallen, said('eval_score', 1, 2), task, 2 * HOUR - 1);
    expect(praised.rung).toBe('execute_with_approval');
    expect(reconsidered(praised, { kind: 'elapsed' }, task, 2 * HOUR)).toMatchObject({
      rung: 'auto_execute',
      held_at: null,
    });
  });

  it('takes a rung of what is in force under a policy that was tightened since, not of what stood before', () => {
    const lenient = scored(PERFECT, taskWith({}, 1));
    const tight = taskWith({ hold_ms: HOUR, caps: [{ name: 'probation', rung: 'recommend', reason: 'r' }] }, 1);
    expect([lenient.rung, rungInForce(lenient, tight, HOUR).rung]).toEqual(['auto_execute', 'recommend']);
    const fallen = reconsidered(lenient, { kind: 'violation' }, tight, HOUR);
    expect(fallen).toMatchObject({ rung: 'read', capped_by: 'violation', held_at: 'read' });
    expect(reconsidered(fallen, { kind: 'elapsed' }, tight, 2 * HOUR).rung).toBe('recommend');
  });

  it('takes another rung each time', () => {
    const task = taskWith({}, 1);
    const twice = [1, 2].reduce((so) => reconsidered(so, { kind: 'violation' }, task, HOUR), scored(PERFECT, task));
    expect(twice.rung).toBe('draft');
  });
});

describe('a freeze (D37, D38)', () => {
  const task = taskWith({ corrections: { count: 3, window_ms: HOUR } }, 1);
  const start = scored(SAMPLE, taskWith({}, 0.5));

  it('follows a failed replay', () => {
    const frozen = reconsidered(start, { kind: 'replay_failed' }, task, HOUR);
    expect(frozen).toMatchObject({ frozen_by: 'replay_failed', frozen_at: HOUR, rung: 'execute_with_approval' });
    expect(scoreOf(frozen.signals)).toBe(785_000);
  });

  it.each([
    [2, 0, null],
    [3, 0, 'corrections'],
    [3, HOUR, null],
  ] as const)('follows %d corrections, each %d ms after the other: %s', (count, apart, frozen_by) => {
    const corrected = Array.from({ length: count }, (_, at) => at).reduce<Standing>(
      (so, at) => reconsidered(so, { kind: 'correction', id: `e${String(at)}` }, task, HOUR + at * apart),
      start,
    );
    expect(corrected.frozen_by).toBe(frozen_by);
  });

  it('counts the same correction once', () => {
    const again = [1, 2, 3].reduce<Standing>(
      (so) => reconsidered(so, { kind: 'correction', id: 'e' }, task, HOUR),
      start,
    );
    expect(again.frozen_by).toBeNull();
  });

  it('keeps a rung from rising and not from falling, until a person lets it', () => {
    const frozen = reconsidered(start, { kind: 'frozen' }, task, HOUR);
    const praised = Object.entries(PERFECT).reduce<Standing>(
      (so, [name, value]) => reconsidered(so, said(name as SignalName, value, 2), task, HOUR),
      frozen,
    );
    expect(praised).toMatchObject({ earned: 'auto_execute', rung: 'execute_with_approval', capped_by: 'frozen' });
    const blamed = reconsidered(praised, said('policy_confidence', 0, 3), task, HOUR);
    expect(reconsidered(blamed, { kind: 'violation' }, task, HOUR).rung).toBe('draft');
    expect(reconsidered(praised, { kind: 'unfrozen' }, task, HOUR)).toMatchObject({
      rung: 'auto_execute',
      frozen_by: null,
    });
  });
});

describe('an effect that was taken back', () => {
  const task = taskWith({}, 1);

  it('costs the tool reliability a fifth, and as much as there is', () => {
    const [once, often] = [1, 7].map((count) =>
      Array.from({ length: count }, (_, at) => at).reduce<Standing>(
        (so, at) => reconsidered(so, { kind: 'compensation_verified', id: `mut_${String(at)}` }, task, HOUR),
        scored(PERFECT, task),
      ),
    );
    const reliability = (standing: Standing | undefined) =>
      standing?.signals.find(({ signal }) => signal === 'tool_reliability')?.value_ppm;
    expect([reliability(once), reliability(often), once?.frozen_by, often?.frozen_by]).toEqual([
      800_000,
      0,
      null,
      'corrections',
    ]);
  });

  it('counts no more once a person says that its trigger was wrong, nor after its window', () => {
    const undone = reconsidered(scored(PERFECT, task), { kind: 'compensation_verified', id: 'm' }, task, HOUR);
    expect(undone.score_ppm).toBe(970_000);
    expect(reconsidered(undone, { kind: 'false_trigger', id: 'm' }, task, HOUR)).toMatchObject({
      score_ppm: 1_000_000,
      corrections: [],
    });
    const at = undone.reconsider_at ?? 0;
    expect(reconsidered(undone, { kind: 'elapsed' }, task, at)).toMatchObject({
      score_ppm: 1_000_000,
      reconsider_at: null,
    });
  });
});

describe('whatever happens', () => {
  const happening: fc.Arbitrary<Happening> = fc.oneof(
    fc
      .tuple(
        fc.constantFrom(...SIGNALS.filter((name) => name !== 'reversibility')),
        fc.double({ min: 0, max: 1, noNaN: true }),
      )
      .map(([signal, value]) => said(signal, value)),
    fc
      .constantFrom('violation', 'safety_violation', 'replay_failed', 'frozen', 'unfrozen', 'elapsed')
      .map((kind) => ({ kind })),
    fc
      .tuple(fc.constantFrom('correction', 'compensation_verified', 'false_trigger'), fc.constantFrom('a', 'b', 'c'))
      .map(([kind, id]) => ({ kind, id })),
  );
  const world = fc.record({
    caps: fc.array(
      fc.record({ name: fc.constantFrom('p', 'q'), rung: fc.constantFrom(...RUNGS), reason: fc.constant('r') }),
      { maxLength: 3 },
    ),
    reversibility: fc.constantFrom(0, 0.5, 1),
    steps: fc.array(fc.tuple(happening, fc.integer({ min: 0, max: 30 * HOUR })), { minLength: 1, maxLength: 30 }),
  });
  const at = (rung: Rung): number => RUNGS.indexOf(rung);

  it('a rung is never above what was earned nor above any cap, and a frozen one never rises', () => {
    fc.assert(
      fc.property(world, ({ caps, reversibility, steps }) => {
        const task = taskWith({ caps, corrections: { count: 2, window_ms: 5 * HOUR } }, reversibility);
        let [standing, now]: [Standing | null, number] = [null, 0];
        for (const [each, later] of steps) {
          now += later;
          const next = reconsidered(standing, each, task, now);
          expect(at(next.rung)).toBeLessThanOrEqual(at(next.earned));
          for (const { rung } of caps) expect(at(next.rung)).toBeLessThanOrEqual(at(rung));
          if (next.held_at !== null) expect(at(next.rung)).toBeLessThanOrEqual(at(next.held_at));
          if (next.frozen_by !== null) expect(at(next.rung)).toBeLessThanOrEqual(at(standing?.rung ?? 'read'));
          expect(next.capped_by === null).toBe(next.rung === next.earned);
          expect(next.score_ppm).toBe(scoreOf(next.signals));
          standing = next;
        }
      }),
    );
  });
});
