// What one effect changes at more standings than a batch holds is told in parts, each of them once (D36, L4).
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { accountant, judged, REFUNDS, register, standingOf, undone } from './budgets.autonomy.testing.js';
import { mutationOf, recorded } from './budgets.testing.js';

const POLICY = { corrections: { count: 100, window_ms: 1_000_000 } };
const KINDS = Array.from({ length: 36 }, (_, at) => `kind_${String(at)}`);

describe.each(WAYS)('an effect of an agent who is watched at more kinds of task than a batch holds, $way', (way) => {
  const wide = () => {
    const { desk, entries, digest } = accountant(way.isRebuilt, null);
    for (const kind of KINDS) register(entries, POLICY, kind);
    return { desk, digest };
  };
  /** Once: parts that never end are to be seen, and not to be waited for. */
  const goneOn = (desk: CoreHarness): CoreHarness =>
    desk.when(desk.timer('undone_leg', desk.rows('undone_leg')[0]?.key ?? ''), 2_000);
  const told = (desk: CoreHarness): readonly string[] =>
    desk.recorded().flatMap(({ type, body }) => (type === 'AutonomyChanged' ? [String(body['task_kind'])] : []));
  const inParts = (desk: CoreHarness, input: RecordInput): readonly (readonly string[])[] => {
    const first = told(desk.when(input, 2_000));
    return [first, told(goneOn(desk))];
  };

  it.each<[string, (digest: Buffer) => RecordInput, readonly RecordInput[], object]>([
    [
      'was made past the accountant',
      (digest) => recorded('a', 900, { capability: REFUNDS, digest }),
      [],
      { held_at: 'read' },
    ],
    [
      'a person says was taken back for nothing',
      () => judged('a', false),
      [undone('a', 'b')],
      { undone: [{ id: mutationOf('b') }], corrections: { length: 1 } },
    ],
    [
      'a person says will be taken back for nothing',
      () => judged('a', false),
      [],
      { pardoned: [{ id: mutationOf('a') }] },
    ],
  ])('that %s changes what was earned in parts, at each kind of task once', (_, input, before, becomes) => {
    const { desk, digest } = wide();
    for (const each of before) goneOn(desk.when(each, 1_500));
    const [first = [], others = []] = inParts(desk, input(digest));
    expect([first.length, others.length]).toEqual([32, 4]);
    expect([...first, ...others].sort()).toEqual([...KINDS].sort());
    for (const kind of KINDS) expect(standingOf(desk, kind)).toMatchObject(becomes);
    expect(desk.rows('undone_leg')).toEqual([]);
  });

  it('counts nowhere where it is taken back while a person’s word about it is told', () => {
    const { desk } = wide();
    desk.when(judged('a', false), 2_000).when(undone('a'), 2_000);
    for (const { key } of desk.rows('undone_leg')) desk.when(desk.timer('undone_leg', key), 2_000);
    expect(desk.rows('autonomy')).toHaveLength(36);
    for (const kind of KINDS) expect(standingOf(desk, kind)).toMatchObject({ undone: [], corrections: [] });
    expect(desk.rows('undone_leg')).toEqual([]);
  });

  it('is told with who said it, and why, in each part', () => {
    const { desk } = wide();
    const { records } = goneOn(desk.when(judged('a', false), 2_000)).decision();
    expect(records.map(({ body }) => body)).toMatchObject(
      Array.from({ length: 4 }, () => ({ cause: 'false_trigger', by: 'dana', reason: 'it was there' })),
    );
  });
});
