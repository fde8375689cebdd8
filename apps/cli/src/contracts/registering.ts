// Registers contracts of files one group after the other, and says what became of each.
import { capabilitiesNamed, parseContract } from '@recourse/contract';
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { formatFields, instant } from '../output/table.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { kindCell } from './changes.js';
import { sendInTurn, showFates } from './fates.js';
import type { Fate, Row, Sending } from './fates.js';
import { withoutSchemaLink } from './files.js';
import type { FileDocument } from './files.js';
import { inGroups } from './lint.js';

/** Contracts that are looked through for those that stand already. */
const STANDING_MAX = 10_000;
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
  return showFates(session, rows, { one: 'contract', several: 'contracts' }, toldOf(rows));
}

/** One group at a time: each may name those before it, and those of a circle go together. */
async function sendAll(
  session: Session,
  sendings: readonly Sending[],
  key: string | undefined,
): Promise<ReadonlyMap<Sending, Fate>> {
  const isStanding = await standingIn(session);
  return sendInTurn(ordered(sendings), key, async (group, groupKey) => {
    const answers = await sent(session, group, groupKey);
    return group.map((one, place) => [one, fateOf(one, answers, { place, isStanding })] as const);
  });
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

/** What is said of some below the table: what a second person has to look at. Pure. */
function toldOf(rows: readonly Row[]): readonly string[] {
  const told = rows.filter(
    ({ became, answer: { differences } }) =>
      became === 'proposed' || (Array.isArray(differences) && differences.length > 0),
  );
  return told.map(({ answer, beside }) => registrationText(answer, beside));
}

/** Text of what the registry answers of one confirmation, or of those that were confirmed together. Pure. */
export function confirmationText(answer: Doc): string {
  const { contracts } = answer;
  const all = Array.isArray(contracts) ? contracts.map(docOf) : [answer];
  return all.map((one) => registrationText(one)).join('\n\n');
}

const WEAKER = 'It is weaker than the version before, about another tool, or sound only beside what waits with it.';

/** Text of what the registry answers of a version that was to retire. Pure. */
export function retirementText(answer: Doc): string {
  return registrationText(answer, [], 'It stands until then: a looser one may bind in its place.');
}

/** Text of what the registry answers of one version, of what waits beside it, and why it waits. Pure. */
export function registrationText(answer: Doc, beside: readonly Doc[] = [], why = WEAKER): string {
  const { differences, expires_at, ...said } = answer;
  const listed = Array.isArray(differences) ? differences.map(docOf) : [];
  const waits =
    said['state'] === 'proposed'
      ? [
          `${why} A second person confirms it before ${String(instant(expires_at))}:`,
          `  recourse contract confirm ${String(said['name'])} --digest ${String(said['digest'])}${withText(beside)}`,
        ]
      : [];
  const stricter =
    said['state'] !== 'proposed' && listed.some(({ kind }) => kind === 'strengthening')
      ? [
          'Agents that hold the version before have an hour to take this one up: what they do under it later, a person undoes.',
          'Effects that are open are bound by it at once: by a shorter window, more people, a graver impact, a higher risk or no way back.',
        ]
      : [];
  return [
    formatFields(Object.entries(said)),
    ...listed.map(({ kind, path, reason }) => `${kindCell(String(kind))}${String(path)}: ${String(reason)}`),
    ...waits,
    ...stricter,
  ].join('\n');
}

function withText(beside: readonly Doc[]): string {
  return beside.map(({ name, digest }) => ` --with ${String(name)}=${String(digest)}`).join('');
}
