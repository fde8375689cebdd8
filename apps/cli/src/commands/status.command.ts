// recourse status: whether each service works, and what is in the way where one does not.
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
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
  /** Partitions of its logs that another instance has, or nobody. */
  readonly elsewhere: readonly Elsewhere[];
  /** When the auditor signed last, as the notifier read it; absent of others, null where it cannot say. */
  readonly heads_signed_at?: number | null;
}

/** A partition that the instance which was asked does not have. */
interface Elsewhere {
  readonly log: string;
  readonly partition: number;
  /** Other instances, one of which has it: none, where nobody has it; null where nobody can tell. */
  readonly others: readonly string[] | null;
  /** What its rows say, and how many offsets of its wires they have not read; absent where nobody can tell. */
  readonly seq?: unknown;
  readonly decided_at?: unknown;
  readonly unread?: unknown;
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
            elsewhereText(services),
            headsText(services),
            parkedText(parked),
            ofWorkers === null ? null : `${ofWorkers} What to do: recourse workers`,
          ]
            .filter((text) => text !== null)
            .join('\n\n'),
        );
        const isWorking = ({ ready, elsewhere }: Standing): boolean => ready && !elsewhere.some(isUnowned);
        return services.every(isWorking) ? 'done' : 'unavailable';
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
    return { service, ready: false, problem: cause.code, loops: [], elsewhere: [] };
  }
}

function answered(service: Service, status: Doc): Standing {
  const { loops: told, problem, in_the_way, partitions, others, ...more } = docOf(status['detail']);
  const { heads_signed_at: signedAt } = more;
  const loops = docsOf(told);
  const { code, detail } = docOf(in_the_way);
  const whole = typeof code === 'string' ? `${code}: ${String(detail)}` : problem;
  const ready = status['ready'] === true;
  const rows = docsOf(status['elsewhere']);
  const elsewhere = elsewhereIn(docOf(partitions), loops).map((at) => ({
    ...rows.find(({ log, partition }) => log === at.log && partition === at.partition),
    ...at,
    others: namesIn(others),
  }));
  const answer = { service, ready, problem: typeof whole === 'string' ? whole : null, loops, elsewhere };
  return signedAt === undefined
    ? answer
    : { ...answer, heads_signed_at: typeof signedAt === 'number' ? signedAt : null };
}

/** Partitions that a log has and no loop is of. Pure. */
function elsewhereIn(counts: Doc, loops: readonly Doc[]): readonly Omit<Elsewhere, 'others'>[] {
  const here = new Set(loops.map(({ log, partition }) => `${String(log)}/${String(partition)}`));
  return Object.entries(counts).flatMap(([log, count]) =>
    Array.from({ length: typeof count === 'number' ? count : 0 }, (_, partition) => ({ log, partition })).filter(
      ({ partition }) => !here.has(`${log}/${String(partition)}`),
    ),
  );
}

const namesIn = (told: unknown): readonly string[] | null =>
  Array.isArray(told) ? told.filter((name) => typeof name === 'string') : null;

const isUnowned = ({ others }: Elsewhere): boolean => others?.length === 0;

/** A line for each partition, and one of its own for what is in the way of the whole. */
function rowsOf({ service, ready, problem, loops, elsewhere }: Standing): readonly Doc[] {
  const of = [
    ...loops.map((loop): Doc => ({ ...loop, service })),
    ...elsewhere.map((at): Doc => ({ ...at, service, state: isUnowned(at) ? 'unowned' : 'not known here' })),
  ];
  const whole = { service, state: ready ? 'ready' : 'not ready', problem };
  return problem !== null || of.length === 0 ? [whole, ...of] : of;
}

/** What its rows say: much that waits since long is a partition that stands still. */
function waitingFor({ unread, decided_at }: Elsewhere): string {
  if (typeof unread !== 'number' || unread === 0) return '';
  const since = typeof decided_at === 'number' ? `, and it decided last at ${String(instant(decided_at))}` : '';
  return `; by its rows ${countText(unread, 'record waits', 'records wait')} for it${since}`;
}

/** When the logs were signed last: an auditor that is gone says nothing itself. Null where nobody can say. */
function headsText(services: readonly Standing[]): string | null {
  const at = services.find(({ heads_signed_at }) => typeof heads_signed_at === 'number')?.heads_signed_at;
  return at === undefined ? null : `The auditor signed what is new in the logs last at ${String(instant(at))}.`;
}

const flagOf = (service: Service): string => (service === 'budgets' ? '--budget-url' : `--${service}-url`);

/** What was not asked, since only one instance answers: a partition that stands still there shows nowhere here. Null where there is none. */
function elsewhereText(services: readonly Standing[]): string | null {
  const lines = services.flatMap(({ service, elsewhere }) =>
    elsewhere.map((at) => {
      const named = `Partition ${String(at.partition)} of ${at.log}`;
      if (isUnowned(at))
        return `${named} is nobody's: no other instance is in the group, and nothing of it is decided.`;
      const whose = at.others === null ? "another instance's" : `another instance's (${at.others.join(', ')})`;
      return `${named} is ${whose}; its state is not known here${waitingFor(at)}. What to do: ask that instance, with its address in ${flagOf(service)}.`;
    }),
  );
  return lines.length === 0 ? null : lines.join('\n');
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
