// recourse log close-alarm: a person has looked at what the auditor found, once or many times over.
import type { Command } from 'commander';
import { openLog } from '../log/accept-cut.js';
import { alarmsIn, AUDITOR, chosenIn, closeAlarms, HEADS_LOG, refuseOtherNames } from '../log/close-alarm.js';
import type { ClosedAlarm, OpenAlarm } from '../log/close-alarm.js';
import { formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { isYes } from '../output/terminal.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';
import { optionsOf } from '../log/own-log.js';

interface CloseOptions {
  readonly finding?: readonly string[];
  readonly log?: readonly string[];
  readonly reason: string;
  readonly by: string;
  readonly yes?: boolean;
}

type OpenLog = ReturnType<typeof openLog>;

const COLUMNS: readonly Column<OpenAlarm>[] = [
  { title: 'ALARM', of: ({ id }) => id },
  { title: 'FINDING', of: ({ finding }) => finding },
  { title: 'LOG', of: ({ log }) => log },
  { title: 'DEADLINE', of: ({ deadlineAt }) => instant(deadlineAt) },
  { title: 'DETAIL', of: ({ detail }) => detail },
];

/** What an alarm found stays on record; heads that a log no longer holds are given up with it. */
export function addCloseAlarm(log: Command, act: Act): void {
  log
    .command('close-alarm')
    .description(
      'closes alarms of the auditor that somebody has looked at, each on record for itself: those that are named, or all that fit, which it shows before it asks. Heads that the log contradicts are given up with it, and signing begins anew.',
    )
    .argument('[alarms...]', 'their ids, as the items show them')
    .option('--finding <finding...>', 'instead: all of a finding, such as restored_backup')
    .option('--log <log...>', 'instead: all of a log or wire, or of a partition of one, such as recourse.mutations/2')
    .requiredOption('--reason <text>', 'what it was')
    .requiredOption('--by <name>', 'who has looked')
    .option('-y, --yes', 'do not ask')
    .action(act<CloseOptions>((session, options, ...given) => close(session, options, given.flat())));
}

async function close(
  session: Session,
  options: CloseOptions,
  given: readonly (string | undefined)[],
): Promise<ExitKind> {
  const ids = given.filter((id) => id !== undefined);
  const isSearch = options.finding !== undefined || options.log !== undefined;
  if (isSearch === ids.length > 0)
    throw new CliProblem(
      'CALL_INVALID',
      isSearch ? 'alarms are named, and which to look for, too' : 'no alarm is named',
      'usage',
      {
        remedy: 'Name them by their ids, or say with --finding and --log which are meant.',
      },
    );
  refuseOtherNames(options.by);
  const opened = openLog(await optionsOf(session, { log: HEADS_LOG, partition: 0, owner: AUDITOR }));
  try {
    return await closeIn(opened, session, options, ids);
  } finally {
    await opened.close();
  }
}

async function closeIn(
  log: OpenLog,
  session: Session,
  options: CloseOptions,
  ids: readonly string[],
): Promise<ExitKind> {
  const alarms = await alarmsIn(log);
  const chosen = chosenIn(alarms, {
    ids,
    ...(options.finding === undefined ? {} : { findings: options.finding }),
    ...(options.log === undefined ? {} : { logs: options.log }),
  });
  // Who names an alarm has seen it.
  if (ids.length === 0 && !(await isAgreed(session, options, chosen))) return 'declined';
  const closed = await closeAlarms(log, alarms, chosen, { ...options, now: session.clock.now() });
  const [only] = closed;
  if (ids.length === 1 && only !== undefined) session.show(closedJson(only), () => closedText(only));
  else session.show({ items: closed.map(closedJson) }, () => closed.map(closedText).join('\n'));
  return 'done';
}

/** Errors: CliProblem(CONFIRMATION_NEEDED) when nobody is there to ask. */
async function isAgreed({ terminal }: Session, { yes }: CloseOptions, chosen: readonly OpenAlarm[]): Promise<boolean> {
  terminal.note(formatTable(COLUMNS, chosen));
  if (yes === true) return true;
  if (!terminal.isInteractive)
    throw new CliProblem('CONFIRMATION_NEEDED', 'nobody is there to confirm', 'usage', {
      remedy: 'Pass --yes once you have looked at each of them.',
    });
  const which = chosen.length === 1 ? 'this alarm' : `these ${String(chosen.length)} alarms`;
  return isYes(await terminal.ask(`Close ${which}? It is recorded for ever. [y/N] `));
}

function closedJson({ seq, alarm: { id, finding, log } }: ClosedAlarm): object {
  return { recorded_seq: seq, alarm_id: id, finding, log };
}

function closedText({ seq, alarm: { finding, detail } }: ClosedAlarm): string {
  return `Recorded as record ${seq}: ${finding} (${detail}) is closed once the auditor has signed it.`;
}
