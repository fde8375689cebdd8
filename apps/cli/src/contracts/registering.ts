// Registers contracts of files one group after the other, and says what became of each.
import { capabilitiesNamed, parseContract } from '@recourse/contract';
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { formatFields, formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem, problemOf } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { withoutSchemaLink } from './files.js';
import type { FileDocument } from './files.js';
import { inGroups } from './lint.js';

/** A contract of a file, on its way to the registry. */
interface Sending {
  readonly file: string;
  readonly value: Doc;
}

/** What became of it; `unknown` where the registry did not answer, and nothing is sent after that. */
interface Fate {
  readonly became: 'registered' | 'unchanged' | 'proposed' | 'refused' | 'unknown' | 'not sent';
  /** What the registry said of it; empty where it took none. */
  readonly answer: Doc;
  /** What waits with it, of the same request: it may need them as they will be. */
  readonly beside?: readonly Doc[];
  /** What was thrown instead, the same for those that were sent together. */
  readonly thrown?: unknown;
}

type Row = Sending & Fate;

const COLUMNS: readonly Column<Row>[] = [
  { title: 'FILE', of: ({ file }) => file },
  { title: 'CONTRACT', of: ({ answer, value }) => answer['name'] ?? value['name'] },
  { title: 'VERSION', of: ({ answer }) => answer['version'], align: 'right' },
  { title: 'BECAME', of: ({ became }) => became },
];
/** Contracts that are looked through for those that stand already. */
const STANDING_MAX = 10_000;
/** Statuses that are about whoever asks, whatever they send: the same is said of every file. */
const OF_THE_ASKER: readonly (number | null)[] = [401, 429];

/**
 * Registers every contract of some files.
 *
 * Errors: what the registry refuses of a single one; else CliProblem with the code of the first refusal, once all are sent,
 *         and whatever ends it before.
 */
export async function registerAll(
  session: Session,
  documents: readonly FileDocument[],
  key: string | undefined,
): Promise<ExitKind> {
  const sendings = documents.map(({ file, value }) => ({ file, value: docOf(withoutSchemaLink(value)) }));
  if (sendings.length === 1) {
    const [answer = {}] = await sent(session, sendings, key);
    session.show(answer, () => registrationText(answer));
    return 'done';
  }
  const fates = await sendAll(session, sendings, key);
  const rows = sendings.map((one): Row => ({ ...one, ...(fates.get(one) ?? { became: 'not sent', answer: {} }) }));
  session.show({ items: rows.map(rowJson) }, () => rowsText(rows));
  const ended = rows.find(({ became }) => became === 'unknown');
  if (ended !== undefined) throw ended.thrown;
  if (rows.some(({ became }) => became === 'refused')) throw refusalOf(rows);
  return 'done';
}

/** One group at a time: each may name those before it, and those of a circle go together. Keys are made per group, so that one given key does not stand for several commands. */
async function sendAll(
  session: Session,
  sendings: readonly Sending[],
  key: string | undefined,
): Promise<ReadonlyMap<Sending, Fate>> {
  const [isStanding, groups] = [await standingIn(session), ordered(sendings)];
  const fates = new Map<Sending, Fate>();
  for (const [at, group] of groups.entries())
    try {
      const groupKey = key === undefined || groups.length === 1 ? key : `${key}-${String(at + 1)}`;
      const answers = await sent(session, group, groupKey);
      for (const [place, one] of group.entries()) fates.set(one, fateOf(one, answers, { place, isStanding }));
    } catch (thrown) {
      const became = problemOf(thrown).exit === 'refused' ? 'refused' : 'unknown';
      for (const one of group) fates.set(one, { became, answer: {}, thrown });
      if (became === 'unknown' || (thrown instanceof EdgeProblem && OF_THE_ASKER.includes(thrown.status))) break;
    }
  return fates;
}

function fateOf(
  { value }: Sending,
  answers: readonly Doc[],
  { place, isStanding }: { readonly place: number; readonly isStanding: (answer: Doc) => boolean },
): Fate {
  const answer = answers.find(({ name }) => name === value['name']) ?? answers[place] ?? {};
  const became = answer['state'] === 'proposed' ? 'proposed' : isStanding(answer) ? 'unchanged' : 'registered';
  return { became, answer, beside: answers.filter((other) => other !== answer && other['state'] === 'proposed') };
}

/** Which answers are of a version that stood before: the registry answers the same to both. Of nobody's where it does not say. */
async function standingIn(session: Session): Promise<(answer: Doc) => boolean> {
  const idOf = ({ name, version, digest }: Doc): string => JSON.stringify([name, version, digest]);
  try {
    const query = { retired: 'false', tenant: session.tenant };
    const { items } = await session.service('contracts').list('/v1/contracts', query, STANDING_MAX);
    const standing = new Set(items.map(idOf));
    return (answer) => standing.has(idOf(answer));
  } catch (problem) {
    if (problem instanceof EdgeProblem) return () => false;
    throw problem;
  }
}

/** Registers a contract, or several that name each other in a circle. */
async function sent(session: Session, group: readonly Sending[], key: string | undefined): Promise<readonly Doc[]> {
  const registry = session.service('contracts');
  const [contract = {}, ...others] = group.map(({ value }) => value);
  if (others.length === 0) return [await registry.command('/v1/contracts', contract, key)];
  const { contracts } = await registry.command('/v1/contracts/together', { contracts: [contract, ...others] }, key);
  return Array.isArray(contracts) ? contracts.map(docOf) : [];
}

/** What is no contract yet goes last, as it is: the registry says what is wrong with it. Pure. */
function ordered(sendings: readonly Sending[]): readonly (readonly Sending[])[] {
  const read = sendings.map((sending) => ({ sending, parsed: parseContract(JSON.stringify(sending.value)) }));
  const sound = new Map(
    read.flatMap(({ sending, parsed }) => (parsed.ok ? [[parsed.contract, sending] as const] : [])),
  );
  const groups = inGroups([...sound.keys()], (contract) => capabilitiesNamed(contract).map(({ name }) => name));
  return [
    ...groups.map((group) => group.flatMap((contract) => sound.get(contract) ?? [])),
    ...read.filter(({ parsed }) => !parsed.ok).map(({ sending }) => [sending]),
  ];
}

/** All that was refused, each with its file, as one problem; whether anything was done is in how it ends. Pure. */
function refusalOf(rows: readonly Row[]): CliProblem {
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
  const count = `${String(refused.length)} of ${String(rows.length)} contracts ${refused.length === 1 ? 'is' : 'are'}`;
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

/** A table, and below it what a second person has to look at. Pure. */
function rowsText(rows: readonly Row[]): string {
  const told = rows.filter(
    ({ became, answer: { differences } }) =>
      became === 'proposed' || (Array.isArray(differences) && differences.length > 0),
  );
  return [formatTable(COLUMNS, rows), ...told.map(({ answer, beside }) => registrationText(answer, beside))].join(
    '\n\n',
  );
}

/** Text of what the registry answers of one confirmation, or of those that were confirmed together. Pure. */
export function confirmationText(answer: Doc): string {
  const { contracts } = answer;
  const all = Array.isArray(contracts) ? contracts.map(docOf) : [answer];
  return all.map((one) => registrationText(one)).join('\n\n');
}

/** Text of what the registry answers of one version, and of what waits beside it. Pure. */
export function registrationText(answer: Doc, beside: readonly Doc[] = []): string {
  const { differences, expires_at, ...said } = answer;
  const listed = Array.isArray(differences) ? differences.map(docOf) : [];
  const waits =
    said['state'] === 'proposed'
      ? [
          `It is weaker than the version before, about another tool, or sound only beside what waits with it. A second person confirms it before ${String(instant(expires_at))}:`,
          `  recourse contract confirm ${String(said['name'])} --digest ${String(said['digest'])}${withText(beside)}`,
        ]
      : [];
  const stricter =
    said['state'] !== 'proposed' && listed.some(({ kind }) => kind === 'strengthening')
      ? [
          'Agents that hold the version before have an hour to take this one up: what they do under it later, a person undoes.',
        ]
      : [];
  return [
    formatFields(Object.entries(said)),
    ...listed.map(({ kind, path, reason }) => `${String(kind).padEnd(13)}${String(path)}: ${String(reason)}`),
    ...waits,
    ...stricter,
  ].join('\n');
}

function withText(beside: readonly Doc[]): string {
  return beside.map(({ name, digest }) => ` --with ${String(name)}=${String(digest)}`).join('');
}
