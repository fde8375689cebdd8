// What became of each of several documents that were sent one after the other: shown as a table, and in how the command ends.
import { EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { formatTable } from '../output/table.js';
import { CliProblem, problemOf } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';

/** A document of a file, on its way to the registry. */
export interface Sending {
  readonly file: string;
  readonly value: Doc;
}

/** What became of it; `unknown` where the registry did not answer, and nothing is sent after that. */
export interface Fate {
  readonly became: 'registered' | 'unchanged' | 'proposed' | 'refused' | 'unknown' | 'not sent';
  /** What the registry said of it; empty where it took none. */
  readonly answer: Doc;
  /** What waits with it, of the same request: it may need them as they will be. */
  readonly beside?: readonly Doc[];
  /** What was thrown instead, the same for those that were sent together. */
  readonly thrown?: unknown;
}

export type Row = Sending & Fate;

/** What the documents are, as people call them. */
interface Named {
  readonly one: 'contract' | 'entry';
  readonly several: 'contracts' | 'entries';
}

/** Statuses that are about whoever asks, whatever they send: the same is said of every file. */
const OF_THE_ASKER: readonly (number | null)[] = [401, 429];

/** Sends one group after the other. Keys are made per group, so that one given key does not stand for several commands. */
export async function sendInTurn(
  groups: readonly (readonly Sending[])[],
  key: string | undefined,
  send: (
    group: readonly Sending[],
    key: string | undefined,
  ) => Promise<readonly (readonly [one: Sending, fate: Fate])[]>,
): Promise<ReadonlyMap<Sending, Fate>> {
  const fates = new Map<Sending, Fate>();
  for (const [at, group] of groups.entries())
    try {
      const groupKey = key === undefined || groups.length === 1 ? key : `${key}-${String(at + 1)}`;
      for (const [one, fate] of await send(group, groupKey)) fates.set(one, fate);
    } catch (thrown) {
      const became = problemOf(thrown).exit === 'refused' ? 'refused' : 'unknown';
      for (const one of group) fates.set(one, { became, answer: {}, thrown });
      if (became === 'unknown' || (thrown instanceof EdgeProblem && OF_THE_ASKER.includes(thrown.status))) break;
    }
  return fates;
}

/**
 * Shows what became of each; `told` is said below the table.
 *
 * Errors: CliProblem with the code of the first refusal, and whatever ended it before all were sent.
 */
export function showFates(
  session: Session,
  rows: readonly Row[],
  named: Named,
  told: readonly string[] = [],
): ExitKind {
  session.show({ items: rows.map(rowJson) }, () => [tableOf(rows, named), ...told].join('\n\n'));
  const ended = rows.find(({ became }) => became === 'unknown');
  if (ended !== undefined) throw ended.thrown;
  if (rows.some(({ became }) => became === 'refused')) throw refusalOf(rows, named);
  return 'done';
}

function tableOf(rows: readonly Row[], { one }: Named): string {
  return formatTable(
    [
      { title: 'FILE', of: ({ file }) => file },
      { title: one.toUpperCase(), of: ({ answer, value }) => answer['name'] ?? value['name'] },
      { title: 'VERSION', of: ({ answer }) => answer['version'], align: 'right' },
      { title: 'BECAME', of: ({ became }) => became },
    ],
    rows,
  );
}

/** All that was refused, each with its file, as one problem; whether anything was done is in how it ends. Pure. */
function refusalOf(rows: readonly Row[], { several }: Named): CliProblem {
  const refused = rows.filter(({ became }) => became === 'refused');
  const causes = [...new Set(refused.map(({ thrown }) => thrown))];
  const problems = causes.flatMap((cause) => {
    const files = refused.filter(({ thrown }) => thrown === cause).map(({ file }) => file);
    const { code, message, problems: listed } = problemOf(cause);
    const said = listed.length === 0 ? [{ code, message }] : listed;
    return said.map((one) => ({ ...one, message: `${files.join(', ')}: ${one.message}` }));
  });
  const { code, remedy } = problemOf(causes[0]);
  const isDone = rows.some(({ became }) => became === 'registered' || became === 'proposed');
  const count = `${String(refused.length)} of ${String(rows.length)} ${several} ${refused.length === 1 ? 'is' : 'are'}`;
  return new CliProblem(
    code,
    `${count} refused: ${refused.map(({ file }) => file).join(', ')}`,
    isDone ? 'partly' : 'refused',
    { problems, ...(remedy === null ? {} : { remedy }), cause: causes[0] },
  );
}

function rowJson({ file, value, became, answer, thrown }: Row): object {
  if (thrown === undefined) return { file, name: value['name'] ?? null, became, ...answer };
  const { code, message, problems } = problemOf(thrown);
  return { file, name: value['name'] ?? null, became, error: { code, message, problems } };
}
