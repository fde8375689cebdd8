// recourse audit replay-story …: the decisions of a packet made again, and the same run as it might have been.
import { reviewEntry } from '@recourse/contract';
import { canonicalJson } from '@recourse/kernel';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { readOne, withoutSchemaLink } from '../contracts/files.js';
import { contractIn } from '../contracts/reading.js';
import { docOf } from '@recourse/sdk';
import { formatTable } from '../output/table.js';
import { visibleOnOneLine } from '../output/visible.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { keysFor } from './options.js';
import { remakeDecisions } from '../story/decisions.js';
import type { Other } from '../story/decisions.process.js';
import { otherwiseIn, replayRun } from '../story/replay.js';
import type { Counterfactual, Replayed, RemadeRun, RunReplay } from '../story/replay.js';
import { readStoryPacket, recordsOf } from '../story/story.packet.js';
import { storyOf } from '../story/story.js';
import type { Act } from './options.js';

interface ReplayStoryOptions {
  readonly contract?: string;
  readonly policy?: readonly [string, string];
  readonly ceiling?: Other['ceilings'];
  readonly open?: boolean;
}

/** Adds what replays a packet: decisions made anew, and the same run under another contract, policy or ceiling. */
export function addReplayStory(audit: Command, act: Act): void {
  audit
    .command('replay-story')
    .description(
      'makes the decisions in a packet anew, offline; with --contract, --policy or --ceiling also says where the run would have gone another way',
    )
    .argument('<file>', 'a packet')
    .option('--contract <file>', 'another contract of a capability of the run, YAML or JSON')
    .option('--policy <name=file>', 'another policy bundle in the place of the one of this name', policyGiven)
    .option(
      '--ceiling <scope/unit=minor>',
      'another ceiling of debt, such as run/INR=100; may be repeated',
      ceilingGiven,
    )
    .option('--open', 'open by the key store the payloads that decisions looked into, as the packet names them')
    .action(act<ReplayStoryOptions>((session, options, file = '') => replay(session, options, file)));
}

async function replay(session: Session, options: ReplayStoryOptions, file: string): Promise<ExitKind> {
  const { contract, policy, ceiling } = options;
  if (contract !== undefined && (policy !== undefined || ceiling !== undefined))
    throw new CliProblem('COUNTERFACTUALS_TOGETHER', 'a run is replayed under one change at a time', 'usage', {
      remedy: 'Leave out --contract, or --policy and --ceiling.',
    });
  const packet = readStoryPacket(file, session.folder);
  const decoded = await recordsOf(packet);
  const problems = decoded.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0)
    throw new CliProblem('PACKET_INVALID', `${file} does not hold what it says`, 'found', { problems });
  const accepted = decoded.flatMap((one) => one.accepted ?? []);
  // What decisions rest on is in the packet too, and no line of the story.
  const records =
    storyOf(accepted, packet.story.about.id, new Map(), { tenant: packet.story.about.tenant ?? null })?.records ??
    accepted;
  const other = otherOf(options, session.folder);
  const remade: RemadeRun = {
    checked: await remakeDecisions(packet, other, keysFor(session, options)),
    unpinned: packet.decisions?.unpinned ?? [],
  };
  const replayed = replayRun(records, contract === undefined ? null : contractIn(contract, session.folder), remade);
  const shown = other === null ? replayed : { ...replayed, counterfactual: otherwiseIn(records, remade) };
  session.show(shown, () => replayText(file, shown, other === null ? 'Under the other contract' : 'Otherwise'));
  return endOf(shown);
}

function otherOf({ policy, ceiling = [] }: ReplayStoryOptions, folder: string): Other | null {
  if (policy === undefined) return ceiling.length === 0 ? null : { policy: null, ceilings: ceiling };
  const [name, file] = policy;
  const { name: _own, ...bundle } = docOf(withoutSchemaLink(readOne(file, folder).value));
  const body = canonicalJson(bundle);
  const review = reviewEntry('policy_bundle', body, '*');
  if (!review.ok)
    throw new CliProblem('POLICY_UNREADABLE', `${file} is no policy bundle`, 'usage', {
      problems: review.problems,
      remedy: 'Name what `recourse entry register policy-bundle` takes.',
    });
  return { policy: { name, body }, ceilings: ceiling };
}

function policyGiven(text: string): readonly [string, string] {
  const [, name, file] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || file === undefined) throw new InvalidArgumentError('It reads NAME=FILE.');
  return [name, file];
}

function ceilingGiven(text: string, before: Other['ceilings'] = []): Other['ceilings'] {
  const [, scope, unit, minor] = /^(run|agent|tenant|platform)\/([^=/]+)=(\d{1,15})$/.exec(text) ?? [];
  if (scope === undefined || unit === undefined)
    throw new InvalidArgumentError('It reads SCOPE/UNIT=MINOR, such as run/INR=100.');
  return [...before, { scope, unit, minor: Number(minor) }];
}

function endOf({ outcome, counterfactual }: RunReplay): ExitKind {
  if (outcome === 'differs' || counterfactual?.outcome === 'diverged') return 'found';
  return outcome === 'incomplete' || counterfactual?.outcome === 'unknown' ? 'unproved' : 'done';
}

function replayText(file: string, { outcome, decisions, counterfactual }: RunReplay, under: string): string {
  const counted = (of: Replayed['outcome']): string => String(decisions.filter((one) => one.outcome === of).length);
  const pinned = new Set(decisions.flatMap((one) => one.pinned ?? []));
  const words = {
    equal: 'replays to equal decisions',
    differs: 'does not replay',
    incomplete: 'differs nowhere, and was not replayed as a whole',
  } as const;
  return [
    formatTable(
      [
        { title: 'RECORD', of: ({ place }) => place },
        { title: 'TYPE', of: ({ type }) => type },
        { title: 'DECISION', of: ({ decision }) => decision },
        { title: 'OUTCOME', of: ({ outcome: one }) => one.replace('_', ' ') },
        { title: 'CODE', of: ({ code }) => code },
        { title: 'WHAT', of: ({ field }) => field ?? null },
      ],
      decisions,
    ),
    ...(pinned.size === 0 ? [] : ['', 'Told by the packet, and proved by no record of it:']),
    ...[...pinned].sort().map((one) => `  ${visibleOnOneLine(one)}`),
    ...(counterfactual === null ? [] : ['', `${under}: ${otherText(counterfactual)}`]),
    '',
    `${file} ${words[outcome]}: ${counted('equal')} equal, ${counted('differs')} differ, ${counted('not_made')} not made`,
  ].join('\n');
}

function otherText({ outcome, at, why, decided }: Counterfactual): string {
  if (outcome === 'unchanged') return 'unchanged.';
  const what = outcome === 'diverged' ? 'another decision at' : 'nobody can say from';
  const types = (records: readonly { readonly type: string }[]): string =>
    records.map(({ type }) => type).join(', ') || 'nothing';
  const both = decided === undefined ? '' : ` Then: ${types(decided.then)}. Otherwise: ${types(decided.otherwise)}.`;
  return `${what} ${at ?? 'the start'} (${why.join(', ')}).${visibleOnOneLine(both)}`;
}
