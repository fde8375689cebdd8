// D61, while effects are under way: what was erased opens nowhere, stops nobody, is asked of no worker, and takes nothing of others along.
import type { Sealing } from '@recourse/event-log';
import { Lacking } from '@recourse/event-log';
import { TOPICS } from '@recourse/messages';
import { rowsOf } from '../rows.js';
import { PARTITIONS, SERVICES } from '../world.js';
import type { ServiceName, World } from '../world.js';
import { broken, nested, ofType, text } from './history.js';
import type { Fields, History, LogRecord } from './history.js';
import { payloadsIn } from './sealed.js';

const ERASED = 'PAYLOADS_ERASED';

export function checkErased(history: History): void {
  checkGoesOn(history);
  if (history.world.erased.size === 0) return;
  checkOrdered(history);
  checkOpensNowhere(history);
  checkAsked(history);
  checkOthers(history);
}

/** No timer that failed is put off at the end, and no partition has trouble. */
function checkGoesOn(history: History): void {
  for (const [actor, runtime] of history.world.runtimes)
    for (const loop of runtime.loops()) {
      const { log, partition, problem } = loop.health();
      if (problem !== null)
        broken(history, 'P2', 'no trouble', `${actor.name} ${log}/${String(partition)}: ${problem}`);
    }
}

/** Who ordered it is on record before a key is destroyed. */
function checkOrdered(history: History): void {
  const ordered = new Map(
    ofType(history, 'recourse.mutations', 'ErasureOrdered').map(({ body, order }) => [text(body, 'erasure_id'), order]),
  );
  for (const [erasureId, order] of history.world.erased)
    if ((ordered.get(erasureId) ?? Infinity) > order)
      broken(history, 'D61', 'on record', `keys were destroyed for ${erasureId}, which nobody had on record`);
}

/** A look at facts is asked for all the same and never leaves: its step is a person's once nobody answered. */
const ASKING: readonly (readonly [log: string, type: string])[] = [
  ['recourse.recoveries', 'LegDispatched'],
  ['recourse.mutations', 'WorkerAsked'],
];

/** Once everybody knows that a key is gone, no worker is asked with what it sealed; and no request is ever sent sealed. */
function checkAsked(history: History): void {
  for (const [log, type] of ASKING)
    for (const record of (history.logs[log] ?? []).filter((one) => one.type === type)) checkAsking(history, record);
  for (const { name } of TOPICS.filter((topic) => topic.name.startsWith('recourse.tool-requests.')))
    for (const { offset } of (history.wires[name] ?? []).filter(({ body }) => keysIn(body).length > 0))
      broken(history, 'D61', 'asked', `${name}@${String(offset)} asks a worker with what it cannot read`);
}

function checkAsking(history: History, record: LogRecord): void {
  const { keys, landedLate } = history.world;
  const where = placeOf(record);
  const gone = keysIn(record.body).filter((keyId) => record.order > (keys.knownSince.get(keyId) ?? Infinity));
  if (gone.length > 0 && !landedLate.has(where))
    broken(history, 'D61', 'asked', `${where} (${record.type}) asks with what was erased under ${gone.join()}`);
}

function keysIn(value: unknown): readonly string[] {
  return payloadsIn(value).flatMap(({ encoding, key_id }) => (encoding === 'sealed' ? [String(key_id)] : []));
}

function placeOf({ topic, partition, offset }: LogRecord): string {
  return `${topic}/${String(partition)}@${String(offset)}`;
}

/** Only what was erased is a person's because it was. */
function checkOthers(history: History): void {
  const { world } = history;
  const erased = new Set([...world.keys.destroyed.values()].map(({ scope }) => `${scope.tenant} ${scope.subject}`));
  const rows = [
    ...rowsIn(world, 'recovery-orchestrator', 'recourse.recoveries', 'step'),
    ...rowsIn(world, 'mutation-ledger', 'recourse.mutations', 'mutation'),
  ];
  for (const row of rows) {
    const { tenant, subject_ref, run_id } = { ...row, ...nested(row, 'execution') };
    const isErased = [subject_ref, `run/${String(run_id)}`].some((one) =>
      erased.has(`${String(tenant)} ${String(one)}`),
    );
    if (row['reason'] === ERASED && !isErased)
      broken(history, 'D61', 'others', `${text(row, 'mutation_id')} is a person's as erased, and nobody had it erased`);
  }
}

/** Neither from memory of whoever lives, nor from a row. */
function checkOpensNowhere(history: History): void {
  const { world } = history;
  const { destroyed } = world.keys;
  const gone = (record: LogRecord): readonly Fields[] =>
    payloadsIn(record.body).filter(({ encoding, key_id }) => encoding === 'sealed' && destroyed.has(String(key_id)));
  const erased = Object.values(history.logs)
    .flat()
    .flatMap((record) => gone(record).map((payload) => ({ record, payload })));
  for (const [actor, sealing] of world.sealings)
    for (const { record } of erased.filter(({ payload }) => opens(sealing, payload)))
      broken(history, 'D61', 'opens', `${actor.name} opens ${placeOf(record)} (${record.type}), which was erased`);
  const kinds = SERVICES.flatMap((service) =>
    world.cores[service].flatMap((core) => core.kinds.map(({ kind }) => ({ service, log: core.log, kind }))),
  );
  for (const { service, log, kind } of kinds)
    if (rowsIn(world, service, log, kind).some((row) => payloadsIn(row).some(({ encoding }) => encoding === 'plain')))
      broken(history, 'D61', 'opens', `a row of ${kind} in ${log} holds a payload in the clear`);
}

function opens(sealing: Sealing, payload: Fields): boolean {
  try {
    return (sealing.open({ payload })['payload'] as Fields)['encoding'] === 'plain'; // the same payload, opened or not
  } catch (cause) {
    if (cause instanceof Lacking) return false;
    throw cause;
  }
}

function rowsIn(world: World, service: ServiceName, log: string, kind: string): readonly Fields[] {
  return Array.from({ length: PARTITIONS }, (_, partition) =>
    rowsOf<Fields>(world, service, log, partition, kind),
  ).flat();
}
