// P9, at consumers: what each noted, against what was announced. A commit before its rollback, in order, each once, nothing of
// another scope; what it made of a commit falls with it, and a barrier opens on nothing that was announced and not applied.
import { partitionForKey } from '@recourse/kafka';
import { notesOf } from '../consumer-plans.js';
import type { ConsumerRecord, Note } from '../consumer-plans.js';
import { cursorOf, isBehind } from '../ledger-edge.js';
import { PARTITIONS } from '../world.js';
import { broken, nested, number, ofType, text } from './history.js';
import type { Fields, History, LogRecord } from './history.js';

const NOTICES = 'recourse.rollback-notifications';

export async function checkHeard(history: History): Promise<void> {
  for (const consumer of history.world.consumers) {
    if (consumer.plan.reads === null) continue;
    const notes = notesOf(consumer.inbox.rows);
    const told = await toldTo(history, consumer);
    for (let partition = 0; partition < PARTITIONS; partition += 1)
      compare(
        history,
        `${consumer.plan.name}/${String(partition)}`,
        told.filter((one) => one.partition === partition).map(({ what }) => what),
        heardOn(notes, partition),
      );
    // Who began in the middle was not told of what it knows to have fallen before.
    if (consumer.plan.reads.from === 'beginning') checkOwn(history, consumer, notes);
    checkOpened(history, consumer, notes);
  }
}

/** Prefix of tenant/agent/run/subject, part by part; `*` stands for one. */
export function isCovered(
  scope: string,
  {
    tenant,
    agent,
    run,
    subject,
  }: { readonly tenant: string; readonly agent: string; readonly run: string; readonly subject: string | null },
): boolean {
  const parts = [tenant, agent, run, ...(subject ?? '').split('/')];
  return scope.split('/').every((part, index) => part === '*' || part === parts[index]);
}

interface Told {
  readonly partition: number;
  readonly what: string;
}

/** What a consumer has to have noted by where it stands, and that a process that runs stands at the end. */
async function toldTo(history: History, { plan, inbox, isMeantToRun }: ConsumerRecord): Promise<readonly Told[]> {
  const { world } = history;
  const { mode, scope } = plan.reads ?? { mode: 'async', scope: '' };
  const marks = await inbox.transact('derive', async (session) => ({
    poll: await session.mark(`poll/${scope}`),
    since: await session.mark('since'),
    places: await Promise.all(
      Array.from({ length: PARTITIONS }, (_, partition) => session.mark(`position/${String(partition)}/${scope}`)),
    ),
  }));
  if (mode === 'poll') return toldByPoll(history, scope, isMeantToRun ? null : cursorOf(marks.poll));
  const since = new Map(JSON.parse(marks.since ?? '[]') as [number, number][]); // the SDK wrote it
  const ends = marks.places.map((place, partition) =>
    isMeantToRun
      ? (world.broker.find(NOTICES, partition)?.range().high ?? 0)
      : (JSON.parse(place ?? '{"offset":0}') as { readonly offset: number }).offset,
  ); // the SDK wrote it
  return ofType(history, NOTICES, 'RollbackAnnounced')
    .filter(({ partition, offset, body }) => offset < (ends[partition] ?? 0) && isCovered(scope, whoIn(body)))
    .filter(
      ({ partition, offset, body }) =>
        offset >= (since.get(partition) ?? 0) || (body['consumers'] as readonly string[]).includes(plan.name),
    ) // a list of names
    .flatMap(({ partition, body }) => toldOf(partition, text(body, 'mutation_id')));
}

function toldByPoll(history: History, scope: string, cursor: ReturnType<typeof cursorOf> | null): readonly Told[] {
  return marksOf(history)
    .filter(
      ({ partition, seq, body }) =>
        (cursor === null ||
          (cursor[partition] !== undefined &&
            !isBehind(cursor[partition], [seq, Number(body['member_index'] ?? 0)]))) &&
        isCovered(scope, whoOf(body)),
    )
    .flatMap(({ partition, body }) => toldOf(partition, markedIn(body)));
}

/** A commit is told with its rollback, right before it. */
function toldOf(partition: number, commit: string): readonly Told[] {
  return [
    { partition, what: `commit ${commit}` },
    { partition, what: `rollback ${commit}` },
  ];
}

/** Records that mark a commit, with an effect or without. */
export function marksOf(history: History): readonly LogRecord[] {
  return ofType(history, 'recourse.mutations', 'MutationsFell', 'CheckpointRolledBack');
}

/** The commit a mark is about. */
export function markedIn(body: Fields): string {
  return text(body, body['mutation_id'] === undefined ? 'commit_id' : 'mutation_id');
}

/** Who made what a mark is about. */
export function whoOf(body: Fields): Parameters<typeof isCovered>[1] {
  const about = body['execution'] === undefined ? body : nested(body, 'execution');
  return {
    tenant: text(body, 'tenant'),
    agent: text(about, 'agent_id'),
    run: text(body, 'run_id'),
    subject: about['subject_ref'] as string | null,
  }; // a subject or null
}

function whoIn(body: Fields): Parameters<typeof isCovered>[1] {
  return {
    tenant: text(body, 'tenant'),
    agent: text(body, 'agent_id'),
    run: text(body, 'run_id'),
    subject: body['subject_ref'] as string | null,
  };
} // a subject or null

function heardOn(notes: readonly Note[], partition: number): readonly string[] {
  return notes.flatMap((note) =>
    (note.kind === 'commit' || note.kind === 'rollback') && partitionForKey(note.run, PARTITIONS) === partition
      ? [`${note.kind} ${note.commit}`]
      : [],
  );
}

/** Two lists that must be one; says first what is worst about a difference. */
function compare(history: History, where: string, told: readonly string[], heard: readonly string[]): void {
  const seen = new Set<string>();
  const wanted = new Set(told);
  for (const what of heard) {
    if (seen.has(what)) {
      broken(history, 'P9', 'heard once', `${where} noted ${what} again`);
      return;
    }
    seen.add(what);
    const commit = what.replace('rollback ', 'commit ');
    if (!wanted.has(what)) {
      broken(history, 'P9', 'heard in scope', `${where} noted ${what}, which it was not told`);
      return;
    }
    if (wanted.has(commit) && !seen.has(commit)) {
      broken(history, 'P9', 'commit first', `${where} noted ${what} before its commit`);
      return;
    }
  }
  const missing = told.find((what) => !seen.has(what));
  if (missing !== undefined) broken(history, 'P9', 'heard', `${where} never noted ${missing}`);
  const at = told.findIndex((what, index) => heard[index] !== what);
  if (missing === undefined && at >= 0)
    broken(history, 'P9', 'heard in order', `${where} noted ${String(heard[at])} where ${String(told[at])} was told`);
}

/** What a consumer made, replayed: it falls with what it was made from, and nothing is made of what fell, or let out on it. */
function checkOwn(history: History, { plan: { name } }: ConsumerRecord, notes: readonly Note[]): void {
  const fallen = new Set<string>();
  const made: { readonly commit: string; readonly parents: readonly string[] }[] = [];
  const out: { readonly commit: string; readonly ref: string }[] = [];
  for (const note of notes) {
    if (note.kind === 'derived') {
      if (note.parents.some((parent) => fallen.has(parent)))
        broken(
          history,
          'P9',
          'own commits',
          `${name} made ${note.commit} of ${note.parents.join()}, of which one had fallen`,
        );
      made.push(note);
    } else if (note.kind === 'emitted') {
      if (fallen.has(note.commit))
        broken(history, 'P9', 'own commits', `${name} let ${note.ref} out on ${note.commit}, which had fallen`);
      out.push(note);
    } else if (note.kind === 'rollback') {
      const falls = new Set([note.commit]);
      // Made later is named later, so one walk finds them all.
      for (const { commit, parents } of made)
        if (!fallen.has(commit) && parents.some((parent) => falls.has(parent))) falls.add(commit);
      for (const commit of falls) fallen.add(commit);
      const expected = [[...falls].slice(1), out.filter(({ commit }) => falls.has(commit)).map(({ ref }) => ref)];
      if (!isSame(expected[0], note.derived) || !isSame(expected[1], note.emissions))
        broken(
          history,
          'P9',
          'own commits',
          `${name} took back [${note.derived.join()}] and [${note.emissions.join()}] with ${note.commit}, not [${(expected[0] ?? []).join()}] and [${(expected[1] ?? []).join()}]`,
        );
    }
  }
}

export function isSame(one: readonly string[] | undefined, other: readonly string[]): boolean {
  return [...(one ?? [])].sort().join() === [...other].sort().join();
}

/** A barrier that opened had everything behind it that was announced when it was asked for. */
function checkOpened(
  history: History,
  { plan: { name, reads }, opened }: ConsumerRecord,
  notes: readonly Note[],
): void {
  const announced = ofType(history, NOTICES, 'RollbackAnnounced').filter(({ body }) =>
    isCovered(reads?.scope ?? '', whoIn(body)),
  );
  const notedAt = new Map(
    notes.flatMap((note, index) => (note.kind === 'rollback' ? [[note.commit, index] as const] : [])),
  );
  for (const { askedAtOrder, noted } of opened) {
    const missed = announced.find(
      ({ order, body }) => order <= askedAtOrder && (notedAt.get(text(body, 'mutation_id')) ?? Infinity) >= noted,
    );
    if (missed !== undefined)
      broken(
        history,
        'P9',
        'barrier',
        `a barrier of ${name} opened before ${text(missed.body, 'mutation_id')} at ${String(number(missed.body, 'seq'))} was applied`,
      );
  }
}
