// recourse replay …: the state that a log makes, rebuilt from its first record, beside the one in the database.
import type { Command } from 'commander';
import { known, OPERATOR } from '../config.js';
import { OWNED_LOGS } from '../log/owned-logs.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import { replayInProcess } from '../replay/replay.process.js';
import type { ReplayAsked, ReplayProgress } from '../replay/replay.process.js';
import { describeReplay, replayReport } from '../replay/replay.report.js';
import type { Session } from '../session.js';
import { epochMs, positiveInteger } from './options.js';
import type { Act } from './options.js';

interface ReplayOptions {
  readonly until?: number;
  readonly asOf?: number;
  readonly compare?: boolean;
}
interface Place {
  readonly log: string;
  readonly service: string;
  readonly partition: number | null;
}

export function addReplay(program: Command, act: Act): void {
  program
    .command('replay')
    .description(
      'rebuilds the state of a log in memory, from its first record, with the fold of the service that owns it, and prints its hash. Writes nothing and sends nothing.',
    )
    .argument('<log>', `${[...OWNED_LOGS.keys()].join(', ')}; with /<partition> one partition of it`)
    .option('--until <seq>', 'stop behind this record', positiveInteger)
    .option(
      '--as-of <time>',
      'stop before what was decided later: an instant such as 2026-11-22T01:34:17Z, or epoch milliseconds',
      epochMs,
    )
    .option(
      '--compare',
      "compare with the projection in the service's database, at the record it stands at; exit 1 when they differ",
    )
    .action(act<ReplayOptions>(async (session, options, name) => replay(session, placeOf(name ?? ''), options)));
}

async function replay(session: Session, place: Place, options: ReplayOptions): Promise<ExitKind> {
  if (options.compare === true && (options.until !== undefined || options.asOf !== undefined)) {
    throw new CliProblem(
      'BOUNDS_WITH_COMPARE',
      'the projection stands at one record, and no other can be compared with it',
      'usage',
      { remedy: 'Leave out --until and --as-of, or --compare.' },
    );
  }
  const { terminal } = session;
  const partitions = await replayInProcess(place.service, askedOf(session, place, options), (progress) => {
    terminal.progress?.(lineOf(place.log, progress));
  }).finally(() => {
    terminal.progress?.(null);
  });
  const report = replayReport(partitions);
  session.show(report, () => describeReplay(report, options.until ?? null));
  return report.ok ? 'done' : 'found';
}

function askedOf(
  { settings }: Session,
  { log, service, partition }: Place,
  { until, asOf, compare }: ReplayOptions,
): ReplayAsked {
  return {
    brokers: known(settings.brokers, 'where Kafka is', '--brokers'),
    kafka_user: settings.kafkaAs(OPERATOR),
    keys: settings.keysTold({ user: OPERATOR }),
    registry_url: known(settings.registryUrl, 'where the schema registry is', '--registry'),
    log_id: known(settings.logId, 'the id of the logs', '--log-id'),
    log,
    partition,
    until_seq: until ?? null,
    as_of: asOf ?? null,
    database_url:
      compare === true
        ? known(settings.databaseOf(service), `where the database of ${service} is`, '--database-url')
        : null,
  };
}

/** Errors: CliProblem(LOG_UNKNOWN, PARTITION_UNKNOWN). */
function placeOf(name: string): Place {
  const [log = '', partition, ...rest] = name.split('/');
  const service = OWNED_LOGS.get(log);
  if (service === undefined)
    throw new CliProblem('LOG_UNKNOWN', `${log} is no log with a state of its own`, 'usage', {
      remedy: `Name one of ${[...OWNED_LOGS.keys()].join(', ')}.`,
    });
  if (partition === undefined) return { log, service, partition: null };
  if (!/^\d{1,9}$/.test(partition) || rest.length > 0)
    throw new CliProblem('PARTITION_UNKNOWN', `${name} names no partition`, 'usage', {
      remedy: `Partitions are numbers from 0: ${log}/0.`,
    });
  return { log, service, partition: Number(partition) };
}

function lineOf(log: string, { partition, offset, end }: ReplayProgress): string {
  return `${log}/${String(partition)}: ${String(offset)} of ${String(end)} records`;
}
