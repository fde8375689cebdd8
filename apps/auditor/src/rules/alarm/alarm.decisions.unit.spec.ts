// Which alarms are raised of what is found: one per log and kind, wherever it shows.
import { describe, expect, it } from '@jest/globals';
import { alarmNews } from './alarm.decisions.js';
import type { AlarmNews } from './alarm.decisions.js';
import type { Alarm, Found } from './alarm.messages.js';

const LOG = 'recourse.mutations';
const at = (kind: Found['kind'], place: Partial<Found> = {}): Found => ({
  kind,
  topic: LOG,
  partition: 1,
  seq: 5,
  offset: null,
  ...place,
});
const named = ({ raised }: AlarmNews): readonly string[] =>
  raised.map(({ kind, topic, partition, seq }) => `${kind} in ${topic}/${partition} at ${String(seq)}`);

/** The auditor's turns: what was raised is open at the next one, until a person closes it. */
class Turns {
  readonly open = new Map<string, Alarm>();
  readonly closed = new Set<string>();
  generation = 0;
  told: ReadonlySet<string> = new Set();

  next(...found: readonly Found[]): AlarmNews {
    const { open, closed, told } = this;
    const news = alarmNews(found, { open, closed, told, generationOf: () => this.generation }, 1_000);
    this.told = news.told;
    for (const alarm of news.raised) open.set(alarm.id, alarm);
    for (const id of news.over) open.delete(id);
    return news;
  }

  close(): void {
    for (const id of this.open.keys()) this.closed.add(id);
    this.open.clear();
  }
}

describe('what is found in a log', () => {
  it('is one alarm while it is open, wherever the place it is found at moves', () => {
    const turns = new Turns();
    expect(named(turns.next(at('regrown', { offset: 7 })))).toEqual([`regrown in ${LOG}/1 at 5`]);
    for (const offset of [8, 9, 10]) expect(named(turns.next(at('regrown', { offset })))).toEqual([]);
    expect([...turns.open.values()].map(({ offset }) => offset)).toEqual([7]);
  });

  it('is one alarm however many records show it, and closed with all that was there', () => {
    const turns = new Turns();
    const three = [1, 2, 3].map((offset) => at('unreadable', { seq: null, offset }));
    expect(turns.next(...three).raised.map(({ offset }) => offset)).toEqual([1]);
    turns.next(...three);
    turns.close();
    expect(named(turns.next(...three))).toEqual([]);
    const later = turns.next(...three, at('unreadable', { seq: null, offset: 4 }));
    expect(later.raised.map(({ offset }) => offset)).toEqual([4]);
  });

  it('is an alarm of its own where the kind, the partition or the log is another', () => {
    const turns = new Turns();
    turns.next(at('regrown'));
    expect(
      named(
        turns.next(
          at('regrown'),
          at('forked'),
          at('regrown', { partition: 2 }),
          at('regrown', { topic: 'recourse.budgets' }),
        ),
      ),
    ).toEqual([`forked in ${LOG}/1 at 5`, `regrown in ${LOG}/2 at 5`, 'regrown in recourse.budgets/1 at 5']);
  });

  it('is one alarm for a log that was cut, whether others were cut with it or not', () => {
    const turns = new Turns();
    const other = at('cut_tail', { partition: 2 });
    expect(named(turns.next(at('cut_tail'), other))).toEqual([
      `restored_backup in ${LOG}/1 at 5`,
      `restored_backup in ${LOG}/2 at 5`,
    ]);
    expect(named(turns.next(at('cut_tail', { seq: 6 })))).toEqual([]);
    expect(named(turns.next(at('cut_tail', { seq: 7 }), other))).toEqual([]);
  });

  it('that a person closed is raised again where it is found anew', () => {
    const turns = new Turns();
    turns.next(at('heads_lost'));
    turns.close();
    expect(named(turns.next(at('heads_lost')))).toEqual([]);
    expect(named(turns.next(at('heads_lost', { seq: 9 })))).toEqual([`heads_lost in ${LOG}/1 at 9`]);
  });

  it('that a person closed is raised again, where it has no place, once it was over', () => {
    const turns = new Turns();
    turns.next(at('void_rate'));
    turns.next(at('void_rate'));
    turns.close();
    expect(turns.next(at('void_rate')).raised).toEqual([]);
    turns.next();
    expect(turns.next(at('void_rate')).raised).toHaveLength(1);
  });

  it('and contradicts heads that were signed since an alarm was closed is another finding, also at the same place', () => {
    const turns = new Turns();
    turns.next(at('cut_tail'));
    turns.close();
    expect(named(turns.next(at('cut_tail')))).toEqual([]);
    turns.generation = 1;
    expect(named(turns.next(at('cut_tail')))).toEqual([`cut_tail in ${LOG}/1 at 5`]);
  });

  it('is over by itself once nothing of its kind is found, and not where its place moves', () => {
    const turns = new Turns();
    const [{ id } = { id: '' }] = turns.next(at('missing')).raised;
    expect(turns.next(at('missing', { seq: 6 }))).toMatchObject({ raised: [], over: [] });
    expect(turns.next().over).toEqual([id]);
  });
});
