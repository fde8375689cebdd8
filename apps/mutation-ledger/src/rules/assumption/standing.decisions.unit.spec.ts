// What stands of a ref, whatever the order in which its sources are heard.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { disputeAfter } from './dispute.decisions.js';
import { standingAfter } from './standing.decisions.js';
import type { Standing, Weigh, Word } from './standing.decisions.js';
import type { StandingStatement } from './assumption.messages.js';

const SOURCES = ['warehouse', 'carrier', 'agent:a', 'agent:b'] as const;
const WEIGHTS: Readonly<Record<string, number>> = { warehouse: 900, carrier: 700 };
const weighed: Weigh = ({ source }) => WEIGHTS[source] ?? 500;
const alike: Weigh = () => 500;

const word = (source: string, verdict: Word['verdict'], at: number): Word => ({
  source,
  verdict,
  stated_at: at,
  effective_at: at,
});

interface Heard {
  readonly last: Standing;
  readonly row: StandingStatement;
}

/** What a log that heard the words in this order holds, as its core folds them. */
function heard(words: readonly Word[], weigh: Weigh): Heard {
  const all = words.reduce<Heard | null>((before, said) => {
    const side = { ...said, event_id: `${said.source} ${String(said.effective_at)}` };
    const last = standingAfter(said, before?.row ?? null, weigh);
    const dispute = disputeAfter(before?.row ?? null, side, last.verdict, said.effective_at);
    const next = { tenant: 'acme', ref: 'r', run_id: null, source_kind: 'observation', ...side, ...dispute } as const;
    const isKept = last.superseded && before !== null;
    return { last, row: isKept ? { ...before.row, ...dispute } : { ...next, verdict: last.verdict } };
  }, null);
  if (all === null) throw new Error('nothing was said');
  return all;
}

/** What should stand, from the newest word of each source alone. */
function expected(words: readonly Word[], weigh: Weigh): string {
  const newest = SOURCES.flatMap(
    (source) => words.filter((one) => one.source === source).sort((a, b) => b.effective_at - a.effective_at)[0] ?? [],
  );
  const isLifted = (one: Word): boolean =>
    newest.some((by) => by.verdict === 'holds' && by.effective_at > one.effective_at && weigh(by) >= weigh(one));
  return newest.some((one) => one.verdict === 'invalidated' && !isLifted(one)) ? 'invalidated' : 'holds';
}

const words = fc
  .array(fc.record({ source: fc.constantFrom(...SOURCES), isFalse: fc.boolean() }), { minLength: 1, maxLength: 9 })
  .chain((said) => {
    const all = said.map(({ source, isFalse }, at) => word(source, isFalse ? 'invalidated' : 'holds', 1_000 + at));
    return fc.shuffledSubarray(all, { minLength: all.length });
  });

describe('what stands of a ref', () => {
  it('does not depend on the order in which words of any weight arrive', () => {
    fc.assert(fc.property(words, (said) => heard(said, weighed).row.verdict === expected(said, weighed)));
  });

  it('is the newest word where all weigh alike', () => {
    fc.assert(
      fc.property(words, (said) => {
        const newest = [...said].sort((a, b) => b.effective_at - a.effective_at)[0];
        return heard(said, alike).row.verdict === newest?.verdict;
      }),
    );
  });

  it('is what a registered source said was false, whatever a lighter one says later, until one as heavy lifts it', () => {
    const said = [word('warehouse', 'invalidated', 1), word('agent:a', 'holds', 2)];
    expect(heard(said, weighed).last).toEqual({
      verdict: 'invalidated',
      superseded: true,
      outweighed_by: 'warehouse',
    });
    expect(heard([...said, word('carrier', 'holds', 3)], weighed).last.outweighed_by).toBe('warehouse');
    expect(heard([...said, word('warehouse', 'holds', 4)], weighed).last).toEqual({
      verdict: 'holds',
      superseded: false,
      outweighed_by: null,
    });
  });

  it('falls by a heavy word that comes late, behind a newer one of a lighter source', () => {
    const said = [word('agent:a', 'holds', 5), word('warehouse', 'invalidated', 4)];
    expect(heard(said, weighed).last).toEqual({ verdict: 'invalidated', superseded: false, outweighed_by: null });
    expect(heard(said, alike).last).toEqual({ verdict: 'holds', superseded: true, outweighed_by: null });
  });

  it('keeps the word that stands in mind when twenty others have spoken since', () => {
    const others = Array.from({ length: 25 }, (_, at) => word(`agent:${String(at)}`, 'holds', 10 + at));
    const { row } = heard([word('warehouse', 'invalidated', 1), ...others], weighed);
    expect([row.verdict, row.source]).toEqual(['invalidated', 'warehouse']);
  });

  const crowd = Array.from({ length: 25 }, (_, at) => word(`agent:${String(at)}`, 'invalidated', 10 + at));
  const crowded = [word('warehouse', 'invalidated', 1), ...crowd];

  it.each([
    ['a stranger', [word('agent:x', 'holds', 50)]],
    ['one of them, and a stranger', [word('agent:24', 'holds', 50), word('agent:x', 'holds', 51)]],
    ['each of them', crowd.map(({ source }, at) => word(source, 'holds', 50 + at))],
  ])('is not lifted by %s, where more sources spoke against it than are kept', (_who, lifting) => {
    expect(heard([...crowded, ...lifting], weighed)).toMatchObject({
      row: { verdict: 'invalidated' },
      last: { verdict: 'invalidated', superseded: true, outweighed_by: 'warehouse' },
    });
  });

  it('is lifted there by a source of the most weight, and from then on by any that weighs as much as what came after', () => {
    const weigh: Weigh = (said) => (said.source === 'owner' ? 1_000 : weighed(said));
    const lifted = [...crowded, word('owner', 'holds', 60)];
    expect(heard(lifted, weigh).row.verdict).toBe('holds');
    expect(heard(lifted, weigh).row).not.toHaveProperty('crowded_out');
  });

  it('says nothing of who was left out where nobody was', () => {
    expect(heard(crowd.slice(0, 20), weighed).row).not.toHaveProperty('crowded_out');
  });
});
