// A contract suite as a table: what every adapter does, and how each of it is shown. A case gets a subject of its own.
import { describe, it } from '@jest/globals';

/** Shows one thing about a subject; fails by throwing. */
export type Case<Subject> = (subject: Subject) => Promise<void>;

/** Cases by title, and tables of them by the title of their group. */
export interface Cases<Subject> {
  readonly [title: string]: Case<Subject> | Cases<Subject>;
}

/** Makes a test of each case. `patienceMs` is for what may take longer than specs usually do. */
export function runCases<Subject>(
  cases: Cases<Subject>,
  fresh: () => Subject | Promise<Subject>,
  patienceMs?: number,
): void {
  for (const [title, one] of Object.entries(cases))
    if (typeof one === 'function') it(title, async () => one(await fresh()), patienceMs);
    else
      describe(title, () => {
        runCases(one, fresh, patienceMs);
      });
}
