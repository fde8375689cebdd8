// P9, at the ledger: who had to hear of a fall is who had subscribed and whom it meets (E18); at rest each of them has answered, or
// a person was told of its silence (E50), and no answer counts that its consumer did not give.
import { isDeepStrictEqual } from 'node:util';
import { notesOf } from '../consumer-plans.js';
import type { Note } from '../consumer-plans.js';
import { rowsOf } from '../rows.js';
import { ACK_WAITS, PARTITIONS } from '../world.js';
import { broken, groupBy, list, number, ofType, parkedKeys, text, wireOf, nested } from './history.js';
import type { Fields, History, LogRecord } from './history.js';
import { isCovered, isSame, markedIn, marksOf, whoOf } from './p09-heard.js';

const MUTATIONS = 'recourse.mutations';

export function checkDeliveries(history: History): void {
  checkDue(history);
  checkAnswers(history);
  checkForged(history);
  checkRest(history);
}

// Who is due ---------------------------------------------------------------------------------------------------------------

interface Version {
  readonly order: number;
  readonly body: Fields | null;
}

/** Subscriptions by tenant and name, each with its versions in order. */
function subscriptionsOf(
  history: History,
): readonly { readonly tenant: string; readonly versions: readonly Version[] }[] {
  const records = ofType(history, 'recourse.contracts', 'EntryRegistered', 'EntryRetired').filter(
    ({ body }) => body['kind'] === 'subscription',
  );
  return [...groupBy(records, ({ body }) => `${text(body, 'tenant')} ${text(body, 'name')}`).values()].map((found) => ({
    tenant: text(found[0]?.body ?? {}, 'tenant'),
    versions: found.map(({ type, order, body }) => ({
      order,
      body: type === 'EntryRegistered' ? (JSON.parse(text(body, 'body')) as Fields) : null,
    })), // the registry takes JSON objects alone
  }));
}

/**
 * Whoever had subscribed when the rollback was opened is in its mark; whoever had not when the mark was accepted is not.
 *
 * Shape: the ledger reads subscriptions to their end after it has read the rollback, and before the mark lands.
 */
function checkDue(history: History): void {
  const subscriptions = subscriptionsOf(history);
  const begun = causesOf(history);
  const announced = new Map(
    ofType(history, 'recourse.rollback-notifications', 'RollbackAnnounced').map(({ body }) => [
      text(body, 'mutation_id'),
      body['consumers'],
    ]),
  );
  for (const mark of marksOf(history)) {
    const from = begun(mark.body);
    const meeting = subscriptions
      .filter(({ tenant }) => tenant === '*' || tenant === text(mark.body, 'tenant'))
      .map(({ versions }) => {
        const stood = [
          versions.findLast(({ order }) => order < from)?.body ?? null,
          ...versions.filter(({ order }) => order >= from && order < mark.order).map(({ body }) => body),
        ];
        return {
          isSure: stood.length === 1,
          met: stood.filter((body) => body !== null).filter((body) => isCovered(text(body, 'scope'), whoOf(mark.body))),
        };
      });
    checkMark(history, mark, meeting);
    const names = list(mark.body, 'consumers').map((due) => text(due, 'consumer'));
    if (!isDeepStrictEqual(announced.get(markedIn(mark.body)), names))
      broken(
        history,
        'P9',
        'due',
        `the rollback of ${markedIn(mark.body)} names ${String(announced.get(markedIn(mark.body)))}, and its mark ${names.join()}`,
      );
  }
}

/** Where what led to a mark took effect: the statement or the fall it names, the command, or the trigger that was remembered. */
function causesOf(history: History): (mark: Fields) => number {
  const remembered = new Map(
    ofType(history, 'recourse.mutations', 'TriggerUnmatched').map(({ body, order }) => [
      text(body, 'rollback_id'),
      order,
    ]),
  );
  const placed = new Map(
    ['recourse.assumptions', 'recourse.rollback-notifications'].flatMap((topic) =>
      (history.logs[topic] ?? []).map(({ partition, seq, order }) => [
        `${topic}/${String(partition)}/${String(seq)}`,
        order,
      ]),
    ),
  );
  // A command that was delivered twice took effect when it came first.
  const commands = new Map(
    wireOf(history, 'recourse.ledger-commands', 'TriggerRollback', 'UndoRun')
      .toReversed()
      .map(({ body, order }) => [text(nested(body, 'envelope'), 'command_id'), order]),
  );
  return (mark) => {
    const evidence = nested(mark, 'evidence');
    const topic = evidence['kind'] === 'lineage' ? 'recourse.rollback-notifications' : 'recourse.assumptions';
    const cause =
      placed.get(`${topic}/${text(evidence, 'partition')}/${text(evidence, 'position')}`) ??
      commands.get(text(evidence, 'event_id'));
    return remembered.get(text(mark, 'rollback_id')) ?? cause ?? 0;
  };
}

const STRICTNESS = ['sync', 'async', 'poll'] as const;

function checkMark(
  history: History,
  { body, decidedAt }: LogRecord,
  meeting: readonly { readonly isSure: boolean; readonly met: readonly Fields[] }[],
): void {
  const id = markedIn(body);
  const due = list(body, 'consumers');
  const possible = new Set(meeting.flatMap(({ met }) => met.map((one) => text(one, 'consumer'))));
  const isUnsure = new Set(
    meeting.filter(({ isSure }) => !isSure).flatMap(({ met }) => met.map((one) => text(one, 'consumer'))),
  );
  const sure = groupBy(
    meeting.filter(({ isSure }) => isSure).flatMap(({ met }) => met),
    (one) => text(one, 'consumer'),
  );
  for (const name of sure.keys())
    if (!due.some((one) => one['consumer'] === name))
      broken(history, 'P9', 'due', `${id} fell in the scope of ${name}, and nobody waits for it`);
  for (const one of due) {
    const name = text(one, 'consumer');
    if (!possible.has(name))
      broken(history, 'P9', 'not due', `${name} is waited for with ${id}, which it had not subscribed to`);
    const mode = STRICTNESS.find((each) => (sure.get(name) ?? []).some((standing) => standing['mode'] === each));
    if (mode === undefined || isUnsure.has(name)) continue;
    if (one['mode'] !== mode || number(one, 'ack_by') !== decidedAt + ACK_WAITS[mode])
      broken(
        history,
        'P9',
        'due',
        `${name} is waited for with ${id} as ${text(one, 'mode')} until ${text(one, 'ack_by')}, and subscribed as ${mode}`,
      );
  }
}

// What was answered ----------------------------------------------------------------------------------------------------------

/** An answer that counts is the one of its consumer: it applied that rollback, and took back what it says. */
function checkAnswers(history: History): void {
  const applied: ReadonlyMap<string, Extract<Note, { kind: 'rollback' }>> = new Map(
    history.world.consumers.flatMap(({ plan: { name }, inbox }) =>
      notesOf(inbox.rows).flatMap((note) =>
        note.kind === 'rollback' ? [[`${note.commit}/${name}`, note] as const] : [],
      ),
    ),
  );
  const sent = new Set(
    wireOf(history, 'recourse.consumer-acks', 'RollbackAcknowledged').map(({ body }) => text(body, 'event_id')),
  );
  for (const [delivery, found] of groupBy(ofType(history, MUTATIONS, 'ConsumerAcknowledged'), ({ body }) =>
    deliveryOf(body),
  )) {
    const [{ body }] = found as [LogRecord]; // a group is never empty
    if (found.length > 1)
      broken(history, 'P9', 'answered once', `${delivery} was acknowledged ${String(found.length)} times`);
    const own = applied.get(delivery);
    const isTrue =
      own !== undefined &&
      own.rollback === text(body, 'rollback_id') &&
      isSame(
        own.derived,
        list(body, 'derived').map((ref) => text(ref, 'commit_id')),
      ) &&
      isSame(
        own.emissions,
        list(body, 'emissions').map((one) => text(one, 'ref')),
      );
    if (!isTrue || !sent.has(text(body, 'event_id')))
      broken(
        history,
        'P9',
        'answered',
        `${delivery} counts as acknowledged by ${text(body, 'event_id')}, which its consumer did not say`,
      );
  }
}

/** What is no acknowledgement is refused on record, with why. */
function checkForged(history: History): void {
  const { forged } = history.world;
  const parked = parkedKeys(history);
  const refusals = new Map(ofType(history, MUTATIONS, 'AckRefused').map(({ body }) => [text(body, 'event_id'), body]));
  for (const { key, body } of wireOf(history, 'recourse.consumer-acks', 'RollbackAcknowledged')) {
    const code = forged.get(text(body, 'event_id'));
    if (code === undefined || parked.has(key)) continue;
    const refused = refusals.get(text(body, 'event_id'));
    if (refused?.['code'] !== code)
      broken(
        history,
        'P9',
        'forged',
        `${text(body, 'event_id')} should be refused with ${code} and was ${refused === undefined ? 'not' : `with ${text(refused, 'code')}`}`,
      );
  }
  for (const [id, body] of refusals)
    if (!forged.has(id))
      broken(
        history,
        'P9',
        'forged',
        `${id} of ${text(body, 'consumer')} was refused with ${text(body, 'code')}, and is its word`,
      );
}

function deliveryOf(body: Fields): string {
  return `${text(body, 'mutation_id')}/${text(body, 'consumer')}`;
}

// What stands at rest ---------------------------------------------------------------------------------------------------------

/** Each delivery is acknowledged or overdue; a consumer that runs has answered; nothing waits that no mark asked for. */
function checkRest(history: History): void {
  const { world } = history;
  const rows = new Map(
    Array.from({ length: PARTITIONS }, (_, partition) =>
      rowsOf<Fields>(world, 'mutation-ledger', MUTATIONS, partition, 'delivery'),
    )
      .flat()
      .map((row) => [deliveryOf(row), row]),
  );
  const [acknowledged, overdue] = (['ConsumerAcknowledged', 'DeliveryOverdue'] as const).map((type) =>
    groupBy(ofType(history, MUTATIONS, type), ({ body }) => deliveryOf(body)),
  );
  const running = new Set(world.consumers.filter(({ isMeantToRun }) => isMeantToRun).map(({ plan }) => plan.name));
  const parked = parkedKeys(history);
  let due = 0;
  for (const { body } of marksOf(history))
    for (const one of list(body, 'consumers')) {
      due += 1;
      const delivery = `${markedIn(body)}/${text(one, 'consumer')}`;
      const phase = String(rows.get(delivery)?.['phase']);
      const said =
        acknowledged?.has(delivery) === true ? 'acknowledged' : overdue?.has(delivery) === true ? 'overdue' : 'waiting';
      if (phase !== said || said === 'waiting')
        broken(history, 'P9', 'delivered', `${delivery} is ${phase}, and its log says ${said}`);
      if (said === 'overdue' && running.has(text(one, 'consumer')) && !parked.has(text(body, 'run_id')))
        broken(history, 'P9', 'delivered', `${delivery} was never acknowledged, and its consumer runs`);
    }
  if (rows.size !== due)
    broken(history, 'P9', 'delivered', `${String(rows.size)} deliveries are kept for ${String(due)} that are due`);
  for (const [delivery, found] of overdue ?? [])
    for (const { body, decidedAt } of found) {
      const row = rows.get(delivery) ?? {};
      if (found.length > 1 || decidedAt < number(row, 'ack_by') || body['owner'] === text(row, 'consumer'))
        broken(
          history,
          'P9',
          'overdue',
          `${delivery} was told as overdue ${String(found.length)} times, or early, or to nobody`,
        );
    }
}
