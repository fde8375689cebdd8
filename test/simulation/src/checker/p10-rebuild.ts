// P10: a rebuild from offset 0 into empty databases gives equal state hashes and sends nothing. L10: nor does anybody who has just started.
import { isDeepStrictEqual } from 'node:util';
import type { ServiceRuntime } from '@recourse/event-log';
import { storesOf } from '../ports.js';
import { SimActor } from '../scheduler.js';
import { PARTITIONS, SERVICES } from '../world.js';
import type { ServiceName, World } from '../world.js';
import { broken, list, number, text } from './history.js';
import type { History, LogRecord } from './history.js';

/** Rebuilds every service into an empty database and compares. Ends the world: its actors are stopped first. */
export async function checkRebuild(history: History): Promise<void> {
  const { world } = history;
  for (const actor of world.living()) actor.alive = false;
  const before = world.order;
  const rebuilt = SERVICES.map((service) => rebuild(world, service));
  const isDone = (): boolean => rebuilt.every(({ runtime, service }) => isThrough(world, runtime, service));
  try {
    await world.scheduler.run(isDone, 100_000);
    const until = world.scheduler.now + 1_500;
    world.scheduler.at(until, () => undefined);
    await world.scheduler.run(() => world.scheduler.now >= until, 100_000);
  } catch (cause) {
    broken(
      history,
      'P10',
      'rebuild',
      `the rebuild does not end: ${cause instanceof Error ? cause.message : String(cause)} ${JSON.stringify(rebuilt.map(({ runtime }) => runtime.health().detail))}`,
    );
    return;
  }
  if (world.order !== before)
    broken(history, 'P10', 'silent', `a rebuild wrote ${String(world.order - before)} records`);
  for (const { service, database } of rebuilt)
    for (const { log } of world.cores[service])
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        if (isSame(world.databases[service], database, log, partition)) continue;
        const [live, anew] = await Promise.all(
          [world.databases[service], database].map((one) => one.partition(log, partition).stateHash()),
        );
        if (live !== anew) broken(history, 'P10', 'state hash', `${log}/${String(partition)} differs from its rebuild`);
      }
}

/** Equal rows have equal hashes; asked first, because hashing spells out every row. */
function isSame(one: Rebuilt['database'], other: Rebuilt['database'], log: string, partition: number): boolean {
  const [left, right] = [flat(one, log, partition), flat(other, log, partition)];
  if (left.size !== right.size) return false;
  for (const [address, { dueAt, doc }] of left) {
    const twin = right.get(address);
    if (twin?.dueAt !== dueAt || !isDeepStrictEqual(twin.doc, doc)) return false;
  }
  return true;
}

interface Stored {
  readonly dueAt: number | null;
  readonly doc: unknown;
}

function flat(database: Rebuilt['database'], log: string, partition: number): ReadonlyMap<string, Stored> {
  const found = new Map<string, Stored>();
  for (const [kind, groups] of database.read(log, partition).kinds)
    for (const [group, rows] of groups)
      for (const [key, row] of rows) found.set(JSON.stringify([kind, group, key]), row);
  return found;
}

interface Rebuilt {
  readonly service: ServiceName;
  readonly runtime: ServiceRuntime;
  readonly database: World['databases'][ServiceName];
}

function rebuild(world: World, service: ServiceName): Rebuilt {
  const actor = new SimActor(`rebuild of ${service}`, 'rebuild');
  world.adopt(actor);
  const database = world.makeEmptyDatabase(service);
  const runtime = world.runtimeOf(actor, service, storesOf(world.scheduler, world.faults, actor, database));
  void runtime.start();
  return { service, runtime, database };
}

function isThrough(world: World, runtime: ServiceRuntime, service: ServiceName): boolean {
  const loops = runtime.loops().map((loop) => loop.health());
  const wanted = world.cores[service].reduce(
    (sum, { log }) => sum + (log === 'recourse.contracts' ? 1 : PARTITIONS),
    0,
  );
  return (
    loops.length === wanted &&
    loops.every(({ state, seq, projectedSeq, waiting }) => state === 'ready' && seq === projectedSeq && waiting === 0)
  );
}

/** Records that only a timer or a resend makes. */
const BY_ITSELF: ReadonlySet<string> = new Set(['ObligationResent']);

/** Who has just started reads its inputs to the end seen then before it acts by itself. */
export function checkQuietStart(history: History): void {
  const { world } = history;
  for (const log of ['recourse.recoveries', 'recourse.mutations']) {
    for (let partition = 0; partition < PARTITIONS; partition += 1)
      checkQuiet(
        history,
        world,
        (history.logs[log] ?? []).filter((record) => record.partition === partition),
        log,
        partition,
      );
  }
}

/** A leg that nobody answered in time. */
function isSilence({ type, body }: LogRecord): boolean {
  return type === 'LegSettled' && list(body, 'members').every(({ reason }) => reason === 'NO_ANSWER');
}

const ANSWERED: readonly string[] = ['LegSettled', 'StepEscalated', 'StepReopened'];

/** A dispatch that follows from a verdict, or from a person's word, is decided with it. */
function isAnswer(records: readonly LogRecord[], { seq }: LogRecord): boolean {
  const before = records.find((one) => one.seq === seq - 1);
  return before !== undefined && ANSWERED.includes(before.type);
}

function checkQuiet(
  history: History,
  world: World,
  records: readonly LogRecord[],
  log: string,
  partition: number,
): void {
  const appends = world.appended.filter((one) => one.topic === log && one.partition === partition);
  const cursors = new Map<string, number>();
  let lastProgress = 0;
  for (const record of records) {
    if (record.type === 'Progress') {
      lastProgress = record.order;
      for (const cursor of list(record.body, 'cursors'))
        cursors.set(`${text(cursor, 'topic')}/${text(cursor, 'partition')}`, number(cursor, 'offset'));
    }
    const isByTimer =
      BY_ITSELF.has(record.type) ||
      isSilence(record) ||
      (record.type === 'LegDispatched' && number(record.body, 'attempt') > 1 && !isAnswer(records, record)) ||
      (record.type === 'RecoverabilityChanged' && record.body['event'] === 'window_closed');
    // What landed late was decided before the start that came meanwhile.
    if (!isByTimer || world.landedLate.has(`${log}/${String(partition)}@${String(record.offset)}`)) continue;
    const append = appends.find(({ order }) => order >= record.order);
    const start =
      append === undefined
        ? undefined
        : world.recovered.findLast(
            (one) =>
              one.actor === append.actor && one.log === log && one.partition === partition && one.order < lastProgress,
          );
    if (append === undefined || start === undefined) continue;
    for (const [input, end] of endsAt(world, log, partition, start.order)) {
      if ((cursors.get(input) ?? 0) < end) {
        broken(
          history,
          'P10',
          'quiet start',
          `${append.actor} wrote ${record.type} at ${String(record.seq)} before it had read ${input} up to ${String(end)}`,
        );
        return;
      }
    }
  }
}

/** Ends of the wires a log reads, as they were at a point of the order. */
function endsAt(world: World, log: string, partition: number, order: number): readonly (readonly [string, number])[] {
  const inputs =
    Object.values(world.cores)
      .flat()
      .find((core) => core.log === log)?.inputs ?? [];
  return inputs
    .filter(({ source, mode }) => source === 'wire' && mode === 'aligned')
    .map(
      ({ topic }) =>
        [
          `${topic}/${String(partition)}`,
          (world.broker.find(topic, partition)?.all() ?? []).filter(({ timestamp }) => timestamp <= order).length,
        ] as const,
    );
}
