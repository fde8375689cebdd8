// recourse log …: what an operator decides about a log itself.
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { known } from '../config.js';
import { acceptLoss, lookAtLoss, nothingLost, openLog, rewritten } from '../log/accept-cut.js';
import type { Seen } from '../log/accept-cut.js';
import { acceptWireLoss, lookAtWire, nothingGone } from '../log/accept-loss.js';
import type { WirePartition, WireSeen } from '../log/accept-loss.js';
import { acceptTime, lookAtTime, refuseUnlessAhead } from '../log/accept-time.js';
import type { TimeSeen } from '../log/accept-time.js';
import { OWNED_LOGS, WIRES } from '../log/owned-logs.js';
import { openProjection } from '../outbound/projection.postgres.js';
import type { Projection } from '../outbound/projection.postgres.js';
import { formatFields, instant } from '../output/table.js';
import { isYes } from '../output/terminal.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { addCloseAlarm } from './close-alarm.command.js';
import { partitionNumber } from './options.js';
import type { Act } from './options.js';
import { optionsOf } from '../log/own-log.js';

interface LossOptions {
  readonly log: string;
  readonly partition: number;
  readonly reason: string;
  readonly by: string;
  readonly yes?: boolean;
}
type WireOptions = LossOptions & { readonly wire: WirePartition };
/** Both sides of a log: its records, and what was projected of them. */
interface Sides<Options extends LossOptions> {
  readonly log: OpenLog;
  readonly projection: Projection;
  readonly options: Options;
}
type OpenLog = ReturnType<typeof openLog>;

export function addLog(program: Command, act: Act): void {
  const log = program.command('log').description('what an operator decides about a log itself');
  ownersCommand(log, 'accept-cut', 'the loss')
    .description(
      'accepts that a log lost acknowledged records: shows what is lost, records the loss at the head, and drops the projection so that the service rebuilds. Stop the service first.',
    )
    .action(act<LossOptions>((session, options) => onLog(session, options, decideCut)));
  ownersCommand(log, 'accept-loss', 'the loss')
    .description(
      'accepts that a wire lost records before its service read them (CURSOR_OUT_OF_RANGE): shows what is lost, and records the loss and where reading goes on. Then start the service again.',
    )
    .requiredOption('--wire <topic/partition>', 'the wire and its partition, as the service names them', wirePartition)
    .action(act<WireOptions>((session, options) => onLog(session, options, decideLoss)));
  ownersCommand(log, 'accept-time', 'its time')
    .description(
      'accepts that the last decision of a log lies ahead of the true time (CLOCK_BEHIND): shows by how much, and records that its time stands until the true time has come. Correct the clock and stop the service first.',
    )
    .action(act<LossOptions>((session, options) => onLog(session, options, decideTime)));
  addCloseAlarm(log, act);
}

function ownersCommand(log: Command, name: string, what: string): Command {
  return log
    .command(name)
    .addOption(new Option('--log <topic>', 'the log').choices([...OWNED_LOGS.keys()]).makeOptionMandatory())
    .requiredOption('--partition <n>', 'its partition', partitionNumber)
    .requiredOption('--reason <text>', `why ${what} is accepted`)
    .requiredOption('--by <name>', 'who accepts it')
    .option('-y, --yes', 'do not ask');
}

/** Errors: InvalidArgumentError, which commander reports. */
function wirePartition(text: string): WirePartition {
  const [, wire = '', partition = ''] = /^([^/]+)\/(\d+)$/.exec(text) ?? [];
  if (WIRES.has(wire)) return { wire, partition: Number(partition) };
  throw new InvalidArgumentError('It must be a wire and a partition, such as recourse.tool-executions/0.');
}

async function onLog<Options extends LossOptions>(
  session: Session,
  options: Options,
  decide: (session: Session, sides: Sides<Options>) => Promise<ExitKind>,
): Promise<ExitKind> {
  const { settings } = session;
  const service = OWNED_LOGS.get(options.log) ?? '';
  const logOptions = await optionsOf(session, { ...options, owner: service });
  const projection = await openProjection({
    databaseUrl: known(settings.databaseOf(service), `where the database of ${service} is`, '--database-url'),
    log: options.log,
    partition: options.partition,
  });
  try {
    const log = openLog(logOptions);
    try {
      return await decide(session, { log, projection, options });
    } finally {
      await log.close();
    }
  } finally {
    await projection.close();
  }
}

async function decideCut(session: Session, { log, projection, options }: Sides<LossOptions>): Promise<ExitKind> {
  const { terminal } = session;
  const seen = await lookAtLoss(log, projection);
  terminal.note(describe(options, seen));
  if (seen.loss.kind === 'nothing_lost') throw nothingLost();
  if (seen.loss.kind === 'rewritten') throw rewritten(seen.loss.seq);
  if (!(await isAgreed(session, options, 'loss'))) return 'declined';
  const { seq, hash } = await acceptLoss(log, projection, seen, options);
  session.show(
    { recorded_seq: seq, recorded_hash: hash, projection: 'dropped' },
    () =>
      `${seq === null ? 'The loss had been recorded before' : `Recorded as record ${seq}`}; the projection is dropped. Start the service: it rebuilds from offset 0.`,
  );
  return 'done';
}

async function decideLoss(session: Session, { log, projection, options }: Sides<WireOptions>): Promise<ExitKind> {
  const { wire } = options;
  const seen = await lookAtWire(log, wire);
  session.terminal.note(describeWire(options, seen));
  if (seen.loss === null) throw nothingGone();
  if (!(await isAgreed(session, options, 'loss'))) return 'declined';
  const { seq, goesOnAt } = await acceptWireLoss(log, wire, seen, { ...options, now: await projection.now() });
  session.show(
    { recorded_seq: seq, goes_on_at: goesOnAt },
    () => `Recorded as record ${seq}. Start the service again: it goes on at offset ${goesOnAt} of ${nameOf(wire)}.`,
  );
  return 'done';
}

async function decideTime(session: Session, { log, projection, options }: Sides<LossOptions>): Promise<ExitKind> {
  const { terminal, clock } = session;
  const seen = await lookAtTime(log, projection, () => clock.now());
  terminal.note(describeTime(options, seen));
  refuseUnlessAhead(seen.judgement);
  if (!(await isAgreed(session, options, 'lead'))) return 'declined';
  const { seq, standsAt, trueNow } = await acceptTime(log, seen, options);
  session.show(
    { recorded_seq: seq, stands_at: standsAt, true_now: trueNow, lead_ms: standsAt - trueNow },
    () =>
      `Recorded as record ${seq}. Start the service again: its time stands at ${String(instant(standsAt))} until that has come.`,
  );
  return 'done';
}

/** Errors: CliProblem(CONFIRMATION_NEEDED) when nobody is there to ask. */
async function isAgreed({ terminal }: Session, { yes }: LossOptions, what: 'loss' | 'lead'): Promise<boolean> {
  if (yes === true) return true;
  if (!terminal.isInteractive)
    throw new CliProblem('CONFIRMATION_NEEDED', 'nobody is there to confirm', 'usage', {
      remedy: `Pass --yes once you have read the ${what}.`,
    });
  return isYes(await terminal.ask(`Accept this ${what}? It is recorded for ever. [y/N] `));
}

function nameOf({ wire, partition }: WirePartition): string {
  return `${wire}/${partition}`;
}

function describeTime(
  { log, partition }: LossOptions,
  { headDecidedAt, databaseNow, ownNow, judgement }: TimeSeen,
): string {
  return formatFields([
    ['log', `${log}/${partition}`],
    ['last decision', instant(headDecidedAt)],
    ['database', instant(databaseNow)],
    ['here', instant(ownNow)],
    ['lead', judgement.kind === 'ahead' ? `${judgement.leadMs} ms that the log is ahead of its database` : null],
  ]);
}

function describeWire({ log, partition, wire }: WireOptions, { range, readTo, loss }: WireSeen): string {
  const { low, high } = range;
  return formatFields([
    ['log', `${log}/${partition}`],
    ['wire', `${nameOf(wire)}, which holds offsets ${low} to ${high}`],
    ['read to', String(readTo)],
    [
      'lost',
      loss === null
        ? null
        : readTo < low
          ? `${countText(low - readTo, 'record that was', 'records that were')} never read`
          : 'whatever the wire held before it was cut or made anew',
    ],
  ]);
}

function describe({ log, partition }: LossOptions, { loss, projected, log: head }: Seen): string {
  return formatFields([
    ['log', `${log}/${partition}`],
    ['projected', projected === null ? 'nothing' : `up to record ${projected.seq} (${projected.hash.toString('hex')})`],
    ['in the log', `up to record ${head.seq} (${head.hash.toString('hex')})`],
    [
      'lost',
      loss.kind === 'cut'
        ? `records ${loss.fromSeq} to ${loss.toSeq}: ${loss.toSeq - loss.fromSeq + 1} that were acknowledged`
        : loss.kind === 'recorded'
          ? 'recorded already; the projection is left'
          : null,
    ],
  ]);
}
