// A run as its lists tell it: what was read of each, and what was not. Pure.
import type { Pages } from '../api/pages.js';
import type { Row } from '../api/shapes.js';
import type { Story } from './run.events.js';

export interface Told {
  readonly rows: Story;
  /** Every list was read; what is shown before that is a part. */
  readonly isRead: boolean;
  /** Lists that go on behind what was read. */
  readonly cut: readonly string[];
}

/** What is known of a run; a list that was not read yet has no rows. */
export function toldOf(lists: Readonly<Record<keyof Story, Pages<Row> | undefined>>): Told {
  const { mutations, commits, rollbacks, deliveries, undos, steps } = lists;
  const rows = (list: Pages<Row> | undefined): readonly Row[] => list?.items ?? [];
  return {
    rows: {
      mutations: rows(mutations),
      commits: rows(commits),
      rollbacks: rows(rollbacks),
      deliveries: rows(deliveries),
      undos: rows(undos),
      steps: rows(steps),
    },
    isRead: Object.values(lists).every((list) => list !== undefined),
    cut: Object.entries(lists).flatMap(([name, list]) => (list?.isCut === true ? [name] : [])),
  };
}

/** The file that somebody saves of it; who reads it later is told what it does not hold. */
export function fileOf(run_id: string, { rows, cut }: Told): string {
  return JSON.stringify({ run_id, cut, ...rows }, null, 2);
}
