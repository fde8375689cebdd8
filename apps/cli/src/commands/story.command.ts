// recourse audit story …: who approved what, on which facts; and the same taken away, told again where no service is.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { acceptedInDump, acceptedInTopics } from '../audit/accepted.js';
import type { Accepted } from '../audit/accepted.js';
import { logIdsIn } from '../audit/dump.js';
import { schemaOfDump } from '../audit/dump-schemas.js';
import type { Place } from '../audit/dump-record.js';
import type { ReadDump } from '../audit/dump-signed.js';
import { logInDump, logOnKafka } from '../audit/prove.js';
import type { ProvedLog } from '../audit/prove.js';
import { formatTable } from '../output/table.js';
import { visibleOnOneLine } from '../output/visible.js';
import { known, OPERATOR } from '../config.js';
import { CliProblem, problemText } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { proofsOf } from '../story/story.proofs.js';
import { storyHtml } from '../story/story.html.js';
import { placeName } from '../story/place-name.js';
import { checkStory, readStoryPacket, storyPacket } from '../story/story.packet.js';
import type { Gathered, StoryCheck } from '../story/story.packet.js';
import { gatherDecisions } from '../story/decisions.js';
import { openedBy } from '../story/opened.js';
import { settingsIn } from '../story/settings.js';
import { STORY_LOGS, tenantsOf } from '../story/selection.js';
import { WORDS } from '../story/sentences.js';
import { countedIn, storyOf, titleOf } from '../story/story.js';
import type { Story, StoryLine } from '../story/story.js';
import { cluster, dumpIn, proofTrustIn, trustOf, WITNESS_KEY } from './audit-trust.js';
import type { TrustOptions } from './audit-trust.js';
import { keysFor } from './options.js';
import type { Act } from './options.js';

interface StoryOptions extends TrustOptions {
  readonly html?: string;
  readonly packet?: string;
  readonly open?: boolean;
  readonly decisions?: boolean;
  readonly settings?: string;
}

type CheckOptions = Pick<TrustOptions, 'dump' | 'auditorKey' | 'witnessKey'>;

/** What happened to people's money and data: only its owner reads it. */
const OWNER_ONLY = 0o600;
const ALL_TENANTS = '*';

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
    .addOption(WITNESS_KEY())
    .option('--heads <file>', 'signed heads kept elsewhere')
    .option(
      '--decisions',
      'the packet also holds what ledger, orchestrator and accountant decided from, to be decided again elsewhere',
    )
    .option('--settings <file>', 'settings of those services that are not the defaults, NAME=value a line')
    .option(
      '--open',
      'show sealed payloads as the services show them to you; with --decisions the key store opens what decisions looked into, and the packet holds none of it',
    )
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
    .addOption(WITNESS_KEY())
    .action(act<CheckOptions>((session, options, file = '') => check(session, options, file)));
}

const EXIT_OF = { equal: 'done', differs: 'found', incomplete: 'unproved' } as const satisfies Record<
  StoryCheck['outcome'],
  ExitKind
>;

async function check(session: Session, { dump, ...trust }: CheckOptions, file: string): Promise<ExitKind> {
  const { folder, flags } = session;
  const ofDump = dump === undefined ? null : (logIdsIn(resolve(folder, dump))[0] ?? null);
  if (flags.logId !== undefined && ofDump !== null && ofDump !== flags.logId)
    throw new CliProblem('DUMP_UNREADABLE', `the dump holds the logs ${ofDump}, not ${flags.logId}`, 'found', {
      remedy: 'Name a dump of the logs that the packet has to be of, or leave out --log-id.',
    });
  const checked = await checkStory(readStoryPacket(file, folder), {
    logged: dump === undefined ? null : await placesIn(dumpIn(session, dump)),
    logId: flags.logId ?? ofDump,
    ...proofTrustIn(session, trust),
  });
  session.show(checked, () => checkText(file, checked));
  return EXIT_OF[checked.outcome];
}

async function tell(session: Session, id: string, options: StoryOptions): Promise<void> {
  const { dump, html, packet, open } = options;
  const source = dump === undefined ? await kafkaSource(session) : await dumpSource(dumpIn(session, dump));
  const tenant = session.tenant === ALL_TENANTS ? null : session.tenant;
  const found = storyOf(source.records, id, new Map(), { tenant });
  if (found === null) throw untold(id, tenant, tenant === null ? tenantsOf(source.records, id) : []);
  const shown = open === true ? await openedStory(session, source.records, found) : found.story;
  if (html !== undefined) written(session, html, storyHtml(shown));
  if (packet !== undefined) {
    const trusted = await trustOf(session, options);
    const gathered = options.decisions === true ? await gathering(session, options, found.records, source) : null;
    const records = [...found.records, ...(gathered?.records ?? [])];
    const proofs = trusted === null ? new Map() : await proofsOf(records, trusted.heads, source.logOf);
    written(session, packet, await storyPacket(found, source.schemaOf, proofs, gathered));
    if (trusted !== null)
      session.terminal.note(`${String(proofs.size)} of its ${String(records.length)} records are proved.`);
  }
  session.show(shown, () => storyText(shown));
}

/** The story with what the services show to whoever asks; what they keep from them is said beside it. */
async function openedStory(
  session: Session,
  all: readonly Accepted[],
  { story, records }: NonNullable<ReturnType<typeof storyOf>>,
): Promise<Story> {
  const tenant = story.about.tenant ?? session.tenant;
  const { bodies, openers } = await openedBy(session, tenant, records);
  if (openers.length > 0) session.terminal.note(problemText(keptFrom(tenant, openers), session.isJson));
  return storyOf(all, story.about.id, bodies, { tenant })?.story ?? story;
}

function keptFrom(whose: string | null, openers: readonly string[]): CliProblem {
  const roles = openers.join(', ');
  return new CliProblem(
    'PAYLOADS_SEALED',
    `payloads of ${whose ?? 'the story'} stay sealed for you: ${roles} opens them`,
    'refused',
    {
      remedy: `Ask with a token of that tenant that carries ${roles}: in a token for all tenants it counts for nothing.`,
    },
  );
}

/** Ids are chosen by whoever writes: the same one may stand for something else in another tenant. */
function untold(id: string, tenant: string | null, several: readonly string[]): CliProblem {
  if (several.length > 1)
    return new CliProblem('TENANT_AMBIGUOUS', `several tenants have a ${id}: ${several.join(', ')}`, 'usage', {
      remedy: 'Name whose story it is with --tenant <tenant>.',
    });
  const whose = tenant === null ? '' : ` of tenant ${tenant}`;
  return new CliProblem('NOT_FOUND', `the logs hold no mutation, rollback or run ${id}${whose}`, 'refused', {
    remedy: 'Look for the id with `recourse mutations list`, `rollbacks list` or `recoveries list`.',
  });
}

/** Decisions are pinned from inputs, and a dump holds no wires. */
async function gathering(
  session: Session,
  { dump, settings: file, open }: StoryOptions,
  told: readonly Accepted[],
  { records }: Source,
): Promise<Gathered> {
  if (dump !== undefined)
    throw new CliProblem('DECISIONS_WITH_DUMP', 'a dump holds no wires, from which decisions were made', 'usage', {
      remedy: 'Leave out --dump, or --decisions.',
    });
  const { settings } = session;
  const asked = {
    brokers: known(settings.brokers, 'where Kafka is', '--brokers'),
    registry_url: known(settings.registryUrl, 'where the schema registry is', '--registry'),
    log_id: known(settings.logId, 'the id of the logs', '--log-id'),
    keys: settings.keysTold({ user: OPERATOR }),
    ...keysFor(session, open === undefined ? {} : { open }),
  };
  const under = file === undefined ? {} : settingsIn(file, session.folder);
  const cluster = { ...asked, kafkaAs: settings.kafkaAs };
  const gathered = await gatherDecisions(told, records, { settings: under, cluster });
  const { pins, unpinned } = gathered.decisions;
  session.terminal.note(
    `${countText(pins.length, 'decision is', 'decisions are')} pinned, ${countText(unpinned.length, 'record is', 'records are')} not.`,
  );
  return gathered;
}

interface Source {
  readonly records: readonly Accepted[];
  readonly schemaOf: (id: number) => Promise<string>;
  readonly logOf: (place: Place) => Promise<ProvedLog>;
}

async function dumpSource(dump: ReadDump): Promise<Source> {
  return {
    records: await acceptedInDump(dump, STORY_LOGS),
    schemaOf: schemaOfDump(dump.folder),
    logOf: (place) => logInDump(dump, place),
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

async function placesIn(dump: ReadDump): Promise<ReadonlyMap<string, string>> {
  const records = await acceptedInDump(dump, STORY_LOGS);
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
    visibleOnOneLine(titleOf(about)),
    '',
    ...lines.flatMap((line) => [
      headOf(line),
      `     ${visibleOnOneLine(line.what)}`,
      ...factsOf(line),
      `     ${placeOf(line)}`,
    ]),
    '',
    countedIn(lines),
  ].join('\n');
}

const headOf = ({ number, at, who, is_decision }: StoryLine): string =>
  `${String(number).padStart(3)}. ${at.replace('T', ' ')}  ${visibleOnOneLine(who)}${is_decision ? '  (decides)' : ''}`;
const factsOf = ({ on_facts }: StoryLine): readonly string[] =>
  on_facts.length === 0 ? [] : [`     on the facts of ${on_facts.map(String).join(', ')}`];
const placeOf = ({ log, partition, seq, index, record_hash }: StoryLine): string =>
  `${record_hash}  ${log}/${String(partition)} seq ${String(seq)}${index === null ? '' : ` index ${String(index)}`}`;

function checkText(file: string, checked: StoryCheck): string {
  const { outcome, records, proved, log_id: logId, tenant, words: version, today, problems } = checked;
  const words = {
    equal: 'tells what its records tell, where the log has them',
    differs: 'does not tell what its records tell',
    incomplete:
      today === null
        ? 'tells what its records tell; their places in a log were not checked'
        : 'tells what its records tell, in older words',
  } as const;
  const whose = tenant === null ? '' : ` of tenant ${tenant}`;
  const where = logId === null ? '' : `, of the logs ${logId}`;
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
    `${file} ${words[outcome]}: ${countText(records, 'record')}${visibleOnOneLine(whose)}, ${String(proved)} proved${visibleOnOneLine(where)}, in words ${String(version)}`,
    ...(today === null ? [] : ['', `In words ${String(WORDS)}:`, '', storyText(today)]),
  ].join('\n');
}
