// recourse status: whether each service works, and what is in the way where one does not.
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { SERVICES } from '../config.js';
import type { Service } from '../config.js';
import { docsOf, formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';
import { countParked, parkedText } from './parked-records.js';
import { findSilent, silentText } from './workers.command.js';

/** A service as it answers, or the code with which it does not. */
interface Standing {
  readonly service: Service;
  readonly ready: boolean;
  /** What is in the way: of one that does not answer, why; of one that is not ready, what it says. Null where nothing is. */
  readonly problem: string | null;
  /** Partitions of its logs that the instance which was asked has, each with its own state. */
  readonly loops: readonly Doc[];
}

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'SERVICE', of: (row) => row['service'] },
  { title: 'STATE', of: (row) => row['state'] },
  { title: 'LOG', of: (row) => row['log'] },
  { title: 'PARTITION', of: (row) => row['partition'], align: 'right' },
  { title: 'RECORDS', of: (row) => row['seq'], align: 'right' },
  { title: 'IN ROWS', of: (row) => row['projectedSeq'], align: 'right' },
  { title: 'OWES SINCE', of: (row) => instant(row['owedSince']) },
  { title: 'IN THE WAY', of: (row) => row['problem'] },
];

export function addStatus(program: Command, act: Act): void {
  program
    .command('status')
    .description(
      'whether each service works: its partitions as the instance that answers has them, what is in the way, how many records are parked, and which workers are silent',
    )
    .action(
      act(async (session) => {
        const asked = [...SERVICES, 'notifier' as const].map((service) => standingOf(session, service));
        const services = (await Promise.all(asked)).filter((one) => one !== null);
        const [parked, silent] = await Promise.all([countParked(session), findSilent(session)]);
        const rows = services.flatMap(rowsOf);
        const ofWorkers = silentText(silent);
        session.show({ services, parked, silent }, () =>
          [
            formatTable(COLUMNS, rows),
            remediesFor(rows),
            parkedText(parked),
            ofWorkers === null ? null : `${ofWorkers} What to do: recourse workers`,
          ]
            .filter((text) => text !== null)
            .join('\n\n'),
        );
        return services.every(({ ready }) => ready) ? 'done' : 'unavailable';
      }),
    );
}

/** Null of a notifier that this installation does not have, as far as is known here. Errors: those of the call itself, such as an address or a token that is missing. */
async function standingOf(session: Session, service: Service): Promise<Standing | null> {
  try {
    return answered(service, await session.service(service).get('/v1/status'));
  } catch (cause) {
    if (service === 'notifier' && cause instanceof CliProblem && cause.code === 'ADDRESS_UNKNOWN') return null;
    if (!(cause instanceof EdgeProblem)) throw cause;
    return { service, ready: false, problem: cause.code, loops: [] };
  }
}

function answered(service: Service, status: Doc): Standing {
  const { loops: told, problem, in_the_way } = docOf(status['detail']);
  const loops = docsOf(told);
  const { code, detail } = docOf(in_the_way);
  const whole = typeof code === 'string' ? `${code}: ${String(detail)}` : problem;
  // A notifier says of each log alone whether it is ready.
  const ready = typeof status['ready'] === 'boolean' ? status['ready'] : loops.every(({ state }) => state === 'ready');
  return { service, ready, problem: typeof whole === 'string' ? whole : null, loops };
}

/** A line for each partition, and one of its own for what is in the way of the whole. */
function rowsOf({ service, ready, problem, loops }: Standing): readonly Doc[] {
  const of = loops.map((loop): Doc => ({ ...loop, service }));
  const whole = { service, state: ready ? 'ready' : 'not ready', problem };
  return problem !== null || of.length === 0 ? [whole, ...of] : of;
}

/** What can be done about each code that is in the way, once; null where nothing is known of any. */
function remediesFor(rows: readonly Doc[]): string | null {
  const codes = new Set(
    rows.flatMap(({ problem }) => (typeof problem === 'string' ? [/^\w+/.exec(problem)?.[0]] : [])),
  );
  const told = [...codes].flatMap((code) => {
    const remedy = code === undefined ? null : new CliProblem(code, '', 'unavailable').remedy;
    return remedy === null ? [] : [`What to do about ${String(code)}: ${remedy}`];
  });
  return told.length === 0 ? null : told.join('\n');
}
