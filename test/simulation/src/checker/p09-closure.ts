// P9: exactly the commits an invalidation reaches are contradicted; each is announced with its rollback, once, in order, and settled behind it.
import {
  broken,
  eachMember,
  groupBy,
  hitsOf,
  list,
  nested,
  number,
  ofType,
  parkedKeys,
  subjectOf,
  text,
} from './history.js';
import type { Fields, History, LogRecord } from './history.js';

const NOTICES = 'recourse.rollback-notifications';

export function checkClosure(history: History): void {
  checkReached(history);
  checkNotices(history);
}

/** A statement that stands in its scope from its seq on. */
interface Standing {
  readonly seq: number;
  readonly order: number;
  readonly partition: number;
  readonly runId: string | null;
  readonly isInvalid: boolean;
}

/**
 * An oracle of its own over statements and reliance.
 *
 * Shape: a commit relies on a ref from a position of the ref's partition on. Whatever was invalid there, or became so later,
 *        contradicts it; nothing else does. The position lies between what its chain had already read and the end of the log.
 */
function checkReached(history: History): void {
  // That a commit stands is invalid from its announced rollback on, or from where a bound left it to a person; nothing reaffirms it.
  const falls = ofType(history, NOTICES, 'RollbackAnnounced', 'BoundReached').map((record): LogRecord => ({
    ...record,
    body: {
      tenant: record.body['tenant'],
      ref: `commit/${text(record.body, 'mutation_id')}#stands`,
      run_id: null,
      verdict: 'invalidated',
    },
  }));
  const statements = groupBy(
    [
      ...ofType(history, 'recourse.assumptions', 'AssumptionStated').filter(({ body }) => body['superseded'] === false),
      ...falls,
    ],
    ({ body }) => `${text(body, 'tenant')} ${text(body, 'ref')}`,
  );
  const hits = new Map<string, Set<number>>();
  for (const { body } of hitsOf(history)) {
    const evidence = nested(body, 'evidence');
    if (evidence['ref'] === null) continue;
    const id = `${subjectOf(body)} ${text(evidence, 'ref')}`;
    const seqs = hits.get(id) ?? new Set<number>();
    if (seqs.has(number(evidence, 'position')))
      broken(history, 'P9', 'once', `${id} was contradicted twice by ${text(evidence, 'position')}`);
    hits.set(id, seqs.add(number(evidence, 'position')));
  }
  const parked = parkedKeys(history);
  const runs = new Map(falls.map(({ body, key }) => [text(body, 'ref'), key]));
  // Where something stands parked, what follows it waits for a person: falls too, behind the run they are announced under.
  const waits = (runId: string, ref: string): boolean => parked.has(runId) || parked.has(runs.get(ref) ?? '');
  // An effect that is held relies on its refs from its intent on.
  const relying = ofType(
    history,
    'recourse.mutations',
    'MutationPlanned',
    'MutationRecorded',
    'CheckpointRecorded',
    'Reattached',
  ).filter(({ type, body }) => type !== 'MutationPlanned' || list(body, 'judged').length > 0);
  for (const [mutation, records] of groupBy(relying, ({ body }) => idOf(body)))
    checkMutation(history, mutation, records, statements, hits, waits);
}

function checkMutation(
  history: History,
  mutation: string,
  records: readonly LogRecord[],
  statements: ReadonlyMap<string, readonly LogRecord[]>,
  hits: ReadonlyMap<string, ReadonlySet<number>>,
  waits: (runId: string, ref: string) => boolean,
): void {
  // What was cancelled never happened: from there on it relies on nothing.
  if (records.some(({ body }) => body['recoverability'] === 'cancelled')) return;
  const binding = records.filter(({ body }) => body['execution_state'] !== 'failed');
  const refs = new Set(binding.flatMap(({ body }) => judgedIn(body).map((judged) => text(judged, 'ref'))));
  for (const ref of refs) {
    const bound = binding.flatMap((record) =>
      judgedIn(record.body)
        .filter((judged) => text(judged, 'ref') === ref)
        .map((judged) => ({ record, judged })),
    );
    const [first] = bound;
    if (first === undefined) continue;
    const { tenant, run_id: runId } = first.record.type.startsWith('Mutation')
      ? nested(first.record.body, 'execution')
      : first.record.body;
    const until = releasedAt(records, ref, number(first.judged, 'position'));
    const stated = standingOf(statements.get(`${String(tenant)} ${ref}`) ?? [], String(runId));
    for (const { record, judged } of bound) checkPosition(history, mutation, record, judged);
    const expected = new Set<number>();
    for (const { judged } of bound) for (const seq of invalidAt(stated, number(judged, 'position'))) expected.add(seq);
    for (const statement of stated)
      if (statement.isInvalid && statement.seq > number(first.judged, 'position') && statement.seq <= until)
        expected.add(statement.seq);
    const actual = hits.get(`${mutation} ${ref}`) ?? new Set<number>();
    const missing = [...expected].filter((seq) => !actual.has(seq) && !isCoveredLater(seq, bound, actual));
    const extra = [...actual].filter((seq) => !expected.has(seq));
    if (missing.length > 0 && !waits(String(runId), ref))
      broken(
        history,
        'P9',
        'reached',
        `${mutation} relies on ${ref} and was not contradicted by ${missing.join()} (was by ${[...actual].join()})`,
      );
    if (extra.length > 0)
      broken(
        history,
        'P9',
        'not reached',
        `${mutation} relies on ${ref} and was contradicted by ${extra.join()}, which had been reaffirmed`,
      );
  }
}

/** Position of the fall after which a commit no longer rests on what fell: it was reattached to another. */
function releasedAt(records: readonly LogRecord[], ref: string, boundAt: number): number {
  const released = records
    .filter(({ type, body }) => type === 'Reattached' && nested(body, 'evidence')['ref'] === ref)
    .map(({ body }) => number(nested(body, 'evidence'), 'position'));
  return released.find((position) => position >= boundAt) ?? Math.min(Infinity, ...released);
}

function idOf(body: Fields): string {
  return text(body, body['mutation_id'] === undefined ? 'commit_id' : 'mutation_id');
}

/** What a record judged: a list of refs, or the one new parent of a commit that was reattached. */
function judgedIn(body: Fields): readonly Fields[] {
  return Array.isArray(body['judged'])
    ? list(body, 'judged')
    : body['judged'] === null || body['judged'] === undefined
      ? []
      : [nested(body, 'judged')];
}

/** A mutation recorded twice (uncertain, then succeeded) is judged anew at the later position: what came between may be covered by either. */
function isCoveredLater(
  seq: number,
  bound: readonly { readonly judged: Fields }[],
  actual: ReadonlySet<number>,
): boolean {
  return bound.length > 1 && bound.slice(1).some(({ judged }) => seq <= number(judged, 'position')) && actual.size > 0;
}

function standingOf(statements: readonly LogRecord[], runId: string): readonly Standing[] {
  return statements
    .filter(({ body }) => body['run_id'] === null || body['run_id'] === runId)
    .map(({ body, seq, order, partition }) => ({
      seq,
      order,
      partition,
      runId: body['run_id'] as string | null,
      isInvalid: body['verdict'] === 'invalidated',
    })); // a run id or null
}

/** What is invalid at a position: the newest statement of each scope there. The latest of them is what binding is contradicted by. */
function invalidAt(statements: readonly Standing[], position: number): readonly number[] {
  const latest = [true, false].map((isGeneral) =>
    statements.filter(({ seq, runId }) => seq <= position && (runId === null) === isGeneral).at(-1),
  );
  const invalid = latest.flatMap((one) => (one?.isInvalid === true ? [one.seq] : []));
  return invalid.length === 0 ? [] : [Math.max(...invalid)];
}

/** The position a ref was judged at is real: not above the log's end then, not below what the same chain had passed. */
function checkPosition(history: History, mutation: string, record: LogRecord, judged: Fields): void {
  const partition = number(judged, 'partition');
  const position = number(judged, 'position');
  const topic = text(judged, 'ref').startsWith('commit/') ? NOTICES : 'recourse.assumptions';
  const log = (history.logs[topic] ?? []).filter((one) => one.partition === partition);
  const end = log.findLast(({ order }) => order < record.order)?.seq ?? 0;
  if (position > end)
    broken(history, 'P9', 'position', `${mutation} was judged at ${String(position)}, above the end ${String(end)}`);
  const passed = passedBy(history, record, topic, partition);
  if (position < passed)
    broken(
      history,
      'P9',
      'position',
      `${mutation} was judged at ${String(position)}, below ${String(passed)}, which its chain had read`,
    );
}

/** Cursor of a chain in a partition of a broadcast log before a record. */
function passedBy(history: History, record: LogRecord, topic: string, partition: number): number {
  let passed = 0;
  for (const { type, seq, body, partition: own } of history.logs['recourse.mutations'] ?? []) {
    if (own !== record.partition || type !== 'Progress' || seq >= record.seq) continue;
    for (const cursor of list(body, 'cursors'))
      if (text(cursor, 'topic') === topic && number(cursor, 'partition') === partition)
        passed = Math.max(passed, number(cursor, 'seq'));
  }
  return passed;
}

function checkNotices(history: History): void {
  const marked = ofType(history, 'recourse.mutations', 'MutationsFell', 'CheckpointRolledBack');
  const announced = ofType(history, NOTICES, 'RollbackAnnounced');
  const times = groupBy(announced, ({ body }) => idOf(body));
  for (const { body } of marked) {
    const count = times.get(idOf(body))?.length ?? 0;
    if (count !== 1)
      broken(history, 'P9', 'announced', `the rollback of ${idOf(body)} was announced ${String(count)} times`);
  }
  if (announced.length > marked.length)
    broken(history, 'P9', 'announced', 'rollbacks were announced that are not marked');
  checkMembers(history);
  checkSettlements(history);
  const notices = history.logs[NOTICES] ?? [];
  for (const [index, { body, partition }] of notices.entries()) {
    const before = notices[index - 1];
    if (before?.partition === partition && isNotAfter(before.body, body))
      broken(
        history,
        'P9',
        'order',
        `notice ${text(body, 'source_seq')}/${text(body, 'source_index')} does not follow in order`,
      );
  }
}

/** A notice announces what its source marked: the same commits, in the same order. */
function checkMembers(history: History): void {
  const placeOf = (partition: number, seq: number): string => `${String(partition)}/${String(seq)}`;
  const sources = new Map(
    (history.logs['recourse.mutations'] ?? []).map((record) => [placeOf(record.partition, record.seq), record]),
  );
  for (const notice of history.logs[NOTICES] ?? []) {
    if (notice.body['members'] !== undefined && list(notice.body, 'members').length === 0)
      broken(history, 'P9', 'announced', `${notice.type} at ${String(notice.seq)} names nobody`);
    if (notice.type !== 'RollbackAnnounced') continue;
    const source = sources.get(placeOf(notice.partition, number(notice.body, 'source_seq')));
    const [marked, told] = [source, notice].map((record) =>
      record === undefined
        ? ''
        : eachMember(record)
            .map(({ body }) => idOf(body))
            .join(),
    );
    if (marked !== told)
      broken(history, 'P9', 'order', `${String(told)} is announced where ${String(marked)} was marked`);
  }
}

/** What became of a commit is told behind its rollback. */
function checkSettlements(history: History): void {
  const announced = new Set<string>();
  for (const { type, body } of ofType(history, NOTICES, 'RollbackAnnounced', 'RollbackSettled')) {
    if (type === 'RollbackAnnounced') announced.add(idOf(body));
    else if (!announced.has(idOf(body)))
      broken(history, 'P9', 'order', `${idOf(body)} came to rest before its rollback was announced`);
  }
}

function isNotAfter(before: Fields, body: Fields): boolean {
  const from = number(before, 'source_seq');
  const to = number(body, 'source_seq');
  return to < from || (to === from && number(body, 'source_index') <= number(before, 'source_index'));
}
