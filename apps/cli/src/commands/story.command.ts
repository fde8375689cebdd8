// recourse audit story …: who approved what, on which facts; and the same taken away, told again where no service is.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { acceptedInDump, acceptedInTopics } from '../audit/accepted.js';
import type { Accepted } from '../audit/accepted.js';
import { schemaOfDump } from '../audit/dump-schemas.js';
import type { Place } from '../audit/dump-record.js';
import { auditorKey } from '../audit/heads.js';
import { logInDump, logOnKafka } from '../audit/prove.js';
import type { ProvedLog } from '../audit/prove.js';
import { contractIn } from '../contracts/reading.js';
import { formatTable } from '../output/table.js';
import { visibleOnOneLine } from '../output/visible.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { proofsOf } from '../story/story.proofs.js';
import { storyHtml } from '../story/story.html.js';
import { checkStory, placeName, readStoryPacket, recordsOf, storyPacket } from '../story/story.packet.js';
import type { StoryCheck } from '../story/story.packet.js';
import { replayRun } from '../story/replay.js';
import type { Counterfactual, Replayed, RunReplay } from '../story/replay.js';
import { openedBy } from '../story/opened.js';
import { STORY_LOGS } from '../story/selection.js';
import { storyOf } from '../story/story.js';
import type { Story, StoryLine } from '../story/story.js';
import { cluster, trustOf } from './audit-trust.js';
import type { TrustOptions } from './audit-trust.js';
import type { Act } from './options.js';

interface StoryOptions extends TrustOptions {
  readonly html?: string;
  readonly packet?: string;
  readonly open?: boolean;
}

type CheckOptions = Pick<TrustOptions, 'dump' | 'auditorKey'>;

/** What happened to people's money and data: only its owner reads it. */
const OWNER_ONLY = 0o600;

/** Adds both commands to `recourse audit`. */
export function addStory(audit: Command, act: Act): void {
  audit
    .command('story')
    .description(
      'who approved what, on which facts: a mutation, a rollback or a run, from the intent to the last notice',
    )
    .argument('<id>', 'id of a mutation, a rollback or a run')
    .option('--dump <folder>', 'tell it from what `audit dump` wrote, without any network')
    .option('--html <file>', 'also write it as one HTML file that needs nothing else')
    .option('--packet <file>', 'also write it with its raw records, to be told again elsewhere; payloads stay sealed')
    .option(
      '--auditor-key <key>',
      'verifier key of the auditor, or its file: the packet proves each record by its heads',
    )
    .option('--heads <file>', 'signed heads kept elsewhere')
    .option('--open', 'show sealed payloads as the services show them to you')
    .action(act<StoryOptions>(async (session, options, id = '') => tell(session, id, options)));
  audit
    .command('check-story')
    .description(
      'tells a packet of a story again from its raw records, offline, and says whether hashes, lines and places are equal',
    )
    .argument('<file>', 'a packet')
    .option('--dump <folder>', 'look its records up in what `audit dump` wrote')
    .option(
      '--auditor-key <key>',
      'verifier key of the auditor, or its file: the proofs of the packet are checked by it',
    )
    .action(act<CheckOptions>((session, options, file = '') => check(session, options, file)));
}

/** Adds what replays a packet: decisions made anew, and the same run under another contract. */
export function addReplayStory(audit: Command, act: Act): void {
  audit
    .command('replay-story')
    .description(
      'makes anew what the ledger concluded from contracts in a packet, offline; with --contract also says where the run would have gone another way',
    )
    .argument('<file>', 'a packet')
    .option('--contract <file>', 'another contract of a capability of the run, YAML or JSON')
    .action(
      act<{ contract?: string }>(async (session, { contract }, file = '') => {
        const decoded = await recordsOf(readStoryPacket(file, session.folder));
        const problems = decoded.flatMap(({ problem }) => problem ?? []);
        if (problems.length > 0)
          throw new CliProblem('PACKET_INVALID', `${file} does not hold what it says`, 'found', { problems });
        const other = contract === undefined ? null : contractIn(contract, session.folder);
        const replay = replayRun(
          decoded.flatMap(({ accepted }) => accepted ?? []),
          other,
        );
        session.show(replay, () => replayText(file, replay));
        return endOf(replay);
      }),
    );
}

function endOf({ outcome, counterfactual }: RunReplay): ExitKind {
  if (outcome === 'differs' || counterfactual?.outcome === 'diverged') return 'found';
  return outcome === 'incomplete' || counterfactual?.outcome === 'unknown' ? 'unproved' : 'done';
}

function replayText(file: string, { outcome, decisions, counterfactual }: RunReplay): string {
  const counted = (of: Replayed['outcome']): string => String(decisions.filter((one) => one.outcome === of).length);
  const words = {
    equal: 'replays to equal decisions',
    differs: 'does not replay',
    incomplete: 'differs nowhere, and was not replayed as a whole',
  } as const;
  const other = counterfactual === null ? [] : ['', otherText(counterfactual)];
  return [
    formatTable(
      [
        { title: 'RECORD', of: ({ place }) => place },
        { title: 'TYPE', of: ({ type }) => type },
        { title: 'DECISION', of: ({ decision }) => decision },
        { title: 'OUTCOME', of: ({ outcome: one }) => one.replace('_', ' ') },
        { title: 'CODE', of: ({ code }) => code },
      ],
      decisions,
    ),
    ...other,
    '',
    `${file} ${words[outcome]}: ${counted('equal')} equal, ${counted('differs')} differ, ${counted('not_made')} not made`,
  ].join('\n');
}

function otherText({ outcome, at, why }: Counterfactual): string {
  if (outcome === 'unchanged') return 'Under the other contract: unchanged.';
  const what = outcome === 'diverged' ? 'another decision at' : 'nobody can say from';
  return `Under the other contract: ${what} ${String(at)} (${why.join(', ')}).`;
}

const EXIT_OF = { equal: 'done', differs: 'found', incomplete: 'unproved' } as const satisfies Record<
  StoryCheck['outcome'],
  ExitKind
>;

async function check(session: Session, { dump, auditorKey: given }: CheckOptions, file: string): Promise<ExitKind> {
  const { folder } = session;
  const checked = await checkStory(readStoryPacket(file, folder), {
    logged: dump === undefined ? null : await placesIn(resolve(folder, dump)),
    keys: given === undefined ? [] : [auditorKey(given, resolve(folder, given))],
  });
  session.show(checked, () => checkText(file, checked));
  return EXIT_OF[checked.outcome];
}

async function tell(session: Session, id: string, options: StoryOptions): Promise<void> {
  const { dump, html, packet, open } = options;
  const source = dump === undefined ? await kafkaSource(session) : await dumpSource(resolve(session.folder, dump));
  const found = storyOf(source.records, id);
  if (found === null)
    throw new CliProblem('NOT_FOUND', `the logs hold no mutation, rollback or run ${id}`, 'refused', {
      remedy: 'Look for the id with `recourse mutations list`, `rollbacks list` or `recoveries list`.',
    });
  const shown =
    open === true
      ? (storyOf(source.records, id, await openedBy(session, found.records))?.story ?? found.story)
      : found.story;
  if (html !== undefined) written(session, html, storyHtml(shown));
  if (packet !== undefined) {
    const trusted = await trustOf(session, options);
    const proofs = trusted === null ? new Map() : await proofsOf(found.records, trusted.heads, source.logOf);
    written(session, packet, await storyPacket(found, source.schemaOf, proofs));
    if (trusted !== null)
      session.terminal.note(`${String(proofs.size)} of its ${String(found.records.length)} records are proved.`);
  }
  session.show(shown, () => storyText(shown));
}

interface Source {
  readonly records: readonly Accepted[];
  readonly schemaOf: (id: number) => Promise<string>;
  readonly logOf: (place: Place) => Promise<ProvedLog>;
}

async function dumpSource(folder: string): Promise<Source> {
  return {
    records: await acceptedInDump(folder, STORY_LOGS),
    schemaOf: schemaOfDump(folder),
    logOf: (place) => logInDump(folder, place),
  };
}

async function kafkaSource(session: Session): Promise<Source> {
  const logs = cluster(session);
  return {
    records: await acceptedInTopics({ ...logs, topics: STORY_LOGS }),
    schemaOf: (id) => logs.registry.schemaById(id),
    logOf: (place) => logOnKafka(logs, place),
  };
}

async function placesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const records = await acceptedInDump(folder, STORY_LOGS);
  return new Map(records.map((record) => [placeName(record), record.hash]));
}

function written({ folder, terminal }: Session, file: string, content: string): void {
  try {
    writeFileSync(resolve(folder, file), content, { mode: OWNER_ONLY, flag: 'wx' });
  } catch (cause) {
    throw new CliProblem('FILE_UNWRITABLE', `${file} cannot be written, or is there already`, 'usage', {
      cause,
      remedy: 'Name a new file in a folder that is there.',
    });
  }
  terminal.note(`${file} is written.`);
}

function storyText({ about, lines }: Story): string {
  return [
    `Story of ${about.kind} ${visibleOnOneLine(about.id)}`,
    '',
    ...lines.flatMap((line) => [
      headOf(line),
      `     ${visibleOnOneLine(line.what)}`,
      ...factsOf(line),
      `     ${placeOf(line)}`,
    ]),
    '',
    `${String(lines.length)} records; ${String(lines.filter(({ is_decision }) => is_decision).length)} are what people decided.`,
  ].join('\n');
}

const headOf = ({ number, at, who, is_decision }: StoryLine): string =>
  `${String(number).padStart(3)}. ${at.replace('T', ' ')}  ${visibleOnOneLine(who)}${is_decision ? '  (decides)' : ''}`;
const factsOf = ({ on_facts }: StoryLine): readonly string[] =>
  on_facts.length === 0 ? [] : [`     on the facts of ${on_facts.map(String).join(', ')}`];
const placeOf = ({ log, partition, seq, index, record_hash }: StoryLine): string =>
  `${record_hash}  ${log}/${String(partition)} seq ${String(seq)}${index === null ? '' : ` index ${String(index)}`}`;

function checkText(file: string, { outcome, records, proved, problems }: StoryCheck): string {
  const words = {
    equal: 'tells what its records tell, where the log has them',
    differs: 'does not tell what its records tell',
    incomplete: 'tells what its records tell; their places in a log were not checked',
  } as const;
  return [
    ...(problems.length === 0
      ? []
      : [
          formatTable(
            [
              { title: 'CODE', of: ({ code }) => code },
              { title: 'WHAT', of: ({ message }) => message },
            ],
            problems,
          ),
          '',
        ]),
    `${file} ${words[outcome]}: ${String(records)} records, ${String(proved)} proved`,
  ].join('\n');
}
