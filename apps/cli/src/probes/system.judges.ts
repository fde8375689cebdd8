// What probes conclude about the running system: edges, readiness, what waits for people, what is measured. Pure.
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { countText } from '../output/count-text.js';
import { fail, none, partial, pass } from './probe.js';
import type { Finding } from './probe.js';
import { entryOf, happened, valueOf } from './scope.js';
import type { Scope } from './scope.js';
import type { Fact, Refusals, Seen } from './seen.js';

/** Every edge answers a stranger with what is asked for. */
const refusing =
  (name: 'withoutToken' | 'withForgedToken' | 'withBadQuery', status: string) =>
  ({ seen }: Scope): Finding => {
    const fact: Fact<Refusals> = seen[name];
    const answers = fact.ok ? Object.entries(fact.value) : [];
    return none(
      answers
        .filter(([, answer]) => !answer.startsWith(status))
        .map(([service, answer]) => `${service}: answered ${answer}`),
      `${String(answers.length)} edges answer ${status}`,
    );
  };

export const refusesStrangers = refusing('withoutToken', '401');
export const refusesForgeries = refusing('withForgedToken', '401');
export const refusesNonsense = refusing('withBadQuery', '400');

const flags =
  (name: 'ready' | 'metrics', what: string) =>
  ({ seen }: Scope): Finding => {
    const fact = seen[name];
    const all = fact.ok ? Object.entries(fact.value) : [];
    return none(
      all.filter(([, isSo]) => !isSo).map(([service]) => `${service}: not ${what}`),
      `${String(all.length)} services are ${what}`,
    );
  };

export const isReady = flags('ready', 'ready');
export const isMeasured = flags('metrics', 'measured');

/** What an answer must hold to be a report. */
const answers =
  (name: 'exposure' | 'consumers' | 'effectReasons' | 'recoveryReport', what: string) =>
  ({ seen }: Scope): Finding =>
    seen[name].ok ? pass(`${what} can be read`) : fail(`${what} cannot be read`);

export const exposureKnown = answers('exposure', 'exposure per tool, contract and currency');
export const consumersKnown = answers('consumers', 'how late consumers hear of rollbacks');
export const reasonsKnown = answers('effectReasons', 'why effects landed with people');

export function nothingParked({ seen }: Scope): Finding {
  const parked = valueOf(seen.parked);
  return none(
    parked.map((row) => `parked: ${String(row['code'] ?? row['reason'])}`),
    'no record is parked',
  );
}

/** Records that stand for effects can be found in the chain (P10). */
export function proved(scope: Scope): Finding {
  const done = happened(scope);
  if (done.length === 0) return fail('no effect is on record');
  return none(
    done
      .filter((row) => typeof row['recorded_hash'] !== 'string' || typeof row['recorded_seq'] !== 'number')
      .map((row) => `${String(row['mutation_id'])}: no place in the log`),
    countText(done.length, 'effect names its record', 'effects name their record'),
  );
}

/** Somebody is told. */
export function told({ seen }: Scope): Finding {
  const endpoints = valueOf(seen.endpoints);
  if (endpoints.length === 0) return fail('nobody is told: the notifier has no endpoint');
  const off = endpoints
    .filter(({ state }) => state !== 'on')
    .map(({ name, state }) => `${String(name)}: ${String(state)}`);
  return off.length === endpoints.length
    ? fail(...off)
    : off.length > 0
      ? partial(...off)
      : pass(`${String(endpoints.length)} endpoints are on`);
}

export function inTime({ seen }: Scope): Finding {
  const items = valueOf(seen.items);
  return none(
    items
      .filter((row) => row['is_overdue'] === true)
      .map((row) => `${String(row['kind'])} ${String(row['id'])}: overdue`),
    'nothing that waits for a person is overdue',
  );
}

const member = (rows: readonly Doc[], name: string): readonly string[] => rows.map((row) => String(row[name]));

/** Who states facts is registered, with an owner and a time to live (D56). */
export function sourced({ seen }: Scope): Finding {
  const registered = new Set(member(valueOf(seen.sources), 'name'));
  const stating = new Set(
    valueOf(seen.assumptions).flatMap((row) => {
      const sources = row['sources'];
      const told = Array.isArray(sources) ? member(sources.map(docOf), 'source') : [];
      return told.length > 0 ? told : [row['source']].filter((one) => typeof one === 'string');
    }),
  );
  if (registered.size === 0) return fail('no context source is registered');
  return none(
    [...stating].filter((one) => !registered.has(one)).map((one) => `${one}: states facts, and is not registered`),
    `${String(registered.size)} sources are registered`,
  );
}

export function livesShort({ seen }: Scope): Finding {
  const sources = valueOf(seen.sources);
  if (sources.length === 0) return fail('no context source is registered');
  return none(
    sources
      .filter((row) => typeof entryOf(row)['ttl_ms'] !== 'number')
      .map((row) => `${String(row['name'])}: no ttl_ms`),
    `evidence of ${String(sources.length)} sources grows old`,
  );
}

/** What sources contradict each other about is with a person or decided. */
export function undisputed({ seen }: Scope): Finding {
  return none(
    valueOf(seen.assumptions)
      .filter((row) => row['is_disputed'] === true)
      .map((row) => `${String(row['ref'])}: its sources contradict each other`),
    'no fact is disputed',
  );
}

const everyEffect =
  (what: string, holds: (execution: Doc) => boolean) =>
  (scope: Scope): Finding => {
    const done = happened(scope);
    if (done.length === 0) return fail('no effect is on record');
    const lacking = done.filter((row) => !holds(docOf(row['execution'])));
    const lines = lacking.map((row) => `${String(row['mutation_id'])}: no ${what}`);
    return lacking.length === done.length
      ? fail(...lines)
      : lacking.length > 0
        ? partial(...lines)
        : pass(`${countText(done.length, 'effect carries its', 'effects carry their')} ${what}`);
  };

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
export const pinned = everyEffect('release', (execution) => isText(docOf(execution['release'])['model']));

/** Sources whose triggers people judged: without a judgement nothing is learned from a false alarm. */
export function judgedSources({ seen }: Scope): Finding {
  const sources = valueOf(seen.triggerSources);
  const open = sources.filter((row) => Number(row['confirmed']) + Number(row['rejected']) === 0);
  if (sources.length === 0) return partial('no source has set off a rollback yet');
  return open.length === sources.length
    ? partial(...open.map((row) => `${String(row['source'])}: no trigger of it was judged`))
    : pass(`${String(sources.length - open.length)} sources were judged by people`);
}

export function steady({ seen }: Scope): Finding {
  return none(
    valueOf(seen.trends).map(
      (row) => `${String(row['scope'] ?? row['trend_id'])}: rollbacks rise, and nobody has looked`,
    ),
    'no rise of rollbacks waits for a look',
  );
}

const lately = (rows: readonly Doc[], now: number, what: string, id: string): Finding =>
  none(
    rows
      .filter((row) => typeof row['deadline_at'] === 'number' && row['deadline_at'] < now)
      .map((row) => `${what} ${String(row[id])}: past its deadline`),
    `no ${what} is past its deadline`,
  );

const nowOf = ({ clock }: Seen): number => (clock.ok ? clock.value : 0);
export const tasksInTime = ({ seen }: Scope): Finding => lately(valueOf(seen.tasks), nowOf(seen), 'task', 'task_id');
export const incidentsInTime = ({ seen }: Scope): Finding =>
  lately(valueOf(seen.incidents), nowOf(seen), 'incident', 'incident_id');

/** Whoever builds on commits hears of their falls. */
export function subscribed({ seen }: Scope): Finding {
  const subscriptions = valueOf(seen.subscriptions);
  return subscriptions.length === 0
    ? fail('nobody subscribes to rollbacks')
    : pass(`${countText(subscriptions.length, 'consumer subscribes', 'consumers subscribe')} to rollbacks`);
}
