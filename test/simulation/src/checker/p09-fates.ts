// P9, over lineage: what a fall reaches falls with it, is left to a person beyond the bound, or goes on with another parent; and
// nothing else does. A naive closure of its own, over what the logs say at the end.
import { readPayload } from '@recourse/contract';
import type { Payload } from '@recourse/messages';
import { broken, groupBy, list, nested, number, ofType, parkedKeys, text, wireOf, FALLEN, hitsOf } from './history.js';
import type { Fields, History, LogRecord, WireRecord } from './history.js';
import { wentOnBefore } from './p09-walks.js';
import type { WentOn } from './p09-walks.js';

const NOTICES = 'recourse.rollback-notifications';
const MUTATIONS = 'recourse.mutations';
/** Time in which every process has read what was registered, milliseconds. */
const READ_WITHIN_MS = 10_000;

/** When a ref was first relied upon by what was recorded, epoch milliseconds, null while it is only held; and the positions it was judged at, each with the record that says so. */
interface Bound {
  readonly at: number | null;
  readonly judged: readonly { readonly seq: number; readonly position: number }[];
}

/** A commit, with an effect or without, and what it rests on. */
interface Node {
  readonly tenant: string;
  readonly runId: string;
  readonly recorded: LogRecord;
  /** The first record of what happened; the plan where nothing did. */
  readonly first: LogRecord;
  readonly bound: ReadonlyMap<string, Bound>;
  readonly original: readonly string[];
  /** Parents after all that was reattached. */
  readonly current: ReadonlySet<string>;
  readonly ever: ReadonlySet<string>;
}

export function checkFates(history: History): void {
  const nodes = nodesOf(history);
  checkFixpoint(history, nodes);
  const falls = new Map(
    ofType(history, NOTICES, 'RollbackAnnounced', 'BoundReached').map((fall) => [
      `${String(fall.partition)}/${String(fall.seq)}/${standsRef(text(fall.body, 'mutation_id'))}`,
      fall,
    ]),
  );
  const bounds = new Map(
    ofType(history, MUTATIONS, 'MutationsFell', 'CheckpointRolledBack').map(({ body }) => [
      text(body, 'rollback_id'),
      nested(nested(body, 'evidence'), 'root')['bound_at'] ?? null,
    ]),
  );
  const again = gatesOf(history);
  const wentOn = wentOnBefore(history);
  for (const record of hitsOf(history))
    checkFate(history, record, nodes.get(idOf(record.body)), { falls, bounds, again, wentOn });
  checkResumes(history);
}

function idOf(body: Fields): string {
  return text(body, body['mutation_id'] === undefined ? 'commit_id' : 'mutation_id');
}
function standsRef(id: string): string {
  return `commit/${id}#stands`;
}
const parentIds = (refs: readonly Fields[]): readonly string[] => refs.map((parent) => text(parent, 'commit_id'));

function nodesOf(history: History): ReadonlyMap<string, Node> {
  const recorded = ofType(history, MUTATIONS, 'MutationPlanned', 'MutationRecorded', 'CheckpointRecorded').filter(
    ({ type, body }) => type !== 'MutationPlanned' || list(body, 'judged').length > 0,
  );
  const moves = groupBy(ofType(history, MUTATIONS, 'Reattached'), ({ body }) => idOf(body));
  return new Map(
    [...groupBy(recorded, ({ body }) => idOf(body))].flatMap(([id, records]): (readonly [string, Node])[] => {
      const isVoid =
        records.some(({ body }) => body['recoverability'] === 'cancelled') ||
        records.every(({ body }) => body['execution_state'] === 'failed');
      return isVoid ? [] : [[id, nodeOf(records, moves.get(id) ?? [])]];
    }),
  );
}

function nodeOf(records: readonly LogRecord[], moves: readonly LogRecord[]): Node {
  const last = records.at(-1) as LogRecord; // a group is never empty
  const about = last.type === 'CheckpointRecorded' ? nested(last.body, 'checkpoint') : nested(last.body, 'execution');
  const original = parentIds(list(about, last.type === 'CheckpointRecorded' ? 'parents' : 'derived_from'));
  const bound = new Map<string, Bound>();
  for (const { type, body, seq, decidedAt } of records)
    for (const judged of list(body, 'judged')) {
      const before = bound.get(text(judged, 'ref'));
      bound.set(text(judged, 'ref'), {
        at: before?.at ?? (type === 'MutationPlanned' ? null : decidedAt),
        judged: [...(before?.judged ?? []), { seq, position: number(judged, 'position') }],
      });
    }
  const current = new Set(original);
  const ever = new Set(original);
  for (const { body } of moves) {
    current.delete(text(nested(body, 'fallen'), 'commit_id'));
    const parent = body['parent'] === null ? null : text(nested(body, 'parent'), 'commit_id');
    if (parent !== null) {
      current.add(parent);
      ever.add(parent);
      bound.set(standsRef(parent), {
        at: bound.get(standsRef(parent))?.at ?? last.decidedAt,
        judged: bound.get(standsRef(parent))?.judged ?? [],
      });
    }
  }
  const first = records.find(({ type }) => type !== 'MutationPlanned') ?? last;
  return {
    tenant: text(about, 'tenant'),
    runId: text(about, 'run_id'),
    recorded: last,
    first,
    bound,
    original,
    current,
    ever,
  };
}

/** Whoever rests on what fell, or was left to a person, fell or was left to a person too, late descendants included; nobody else fell for that. */
function checkFixpoint(history: History, nodes: ReadonlyMap<string, Node>): void {
  const walked = new Set(
    ofType(history, MUTATIONS, 'MutationsFell', 'CheckpointRolledBack', 'CommitBeyondBound').map(
      ({ body }) => `${text(body, 'tenant')} ${idOf(body)}`,
    ),
  );
  const parked = parkedKeys(history);
  const isParked = (id: string): boolean => parked.has(nodes.get(id)?.runId ?? '');
  for (const [id, { tenant, current }] of nodes) {
    const fallen = [...current].find((parent) => walked.has(`${tenant} ${parent}`));
    if (fallen !== undefined && !walked.has(`${tenant} ${id}`) && !isParked(id) && !isParked(fallen))
      broken(history, 'P9', 'lineage', `${id} stands although ${fallen}, on which it rests, fell`);
  }
  for (const { type, body } of hitsOf(history)) {
    const evidence = nested(body, 'evidence');
    const node = nodes.get(idOf(body));
    if (evidence['kind'] !== 'lineage' || node === undefined) continue;
    const parent = [...node.ever].find((one) => standsRef(one) === evidence['ref']);
    if (parent === undefined || !walked.has(`${node.tenant} ${parent}`))
      broken(
        history,
        'P9',
        'lineage',
        `${idOf(body)} has ${type} for ${text(evidence, 'ref')}, on which it does not rest, or which stands`,
      );
  }
}

interface Said {
  readonly falls: ReadonlyMap<string, LogRecord>;
  readonly bounds: ReadonlyMap<string, unknown>;
  readonly again: Gates;
  readonly wentOn: WentOn;
}

/** One fall reaches one commit: what is recorded is what its root's bound and its own gate ask for. */
function checkFate(history: History, record: LogRecord, node: Node | undefined, said: Said): void {
  const { falls, bounds, again, wentOn } = said;
  const { type, body } = record;
  const evidence = nested(body, 'evidence');
  if (evidence['kind'] !== 'lineage' || node === undefined) return;
  const id = idOf(body);
  const fall = falls.get(`${text(evidence, 'partition')}/${text(evidence, 'position')}/${text(evidence, 'ref')}`);
  if (fall === undefined) {
    broken(history, 'P9', 'root', `${id} has ${type} for a fall that was not announced`);
    return;
  }
  const cause = nested(fall.body, 'caused_by')['root'] as Fields | null; // a record or null
  const rootId = cause === null ? text(fall.body, 'rollback_id') : text(cause, 'rollback_id');
  const root = nested(evidence, 'root');
  if (root['rollback_id'] !== rootId)
    broken(history, 'P9', 'root', `${id} fell with ${String(root['rollback_id'])}, and the root is ${rootId}`);
  const boundAt = (bounds.get(rootId) as number | null | undefined) ?? null; // an instant or null
  if ((root['bound_at'] ?? null) !== boundAt)
    broken(
      history,
      'P9',
      'bound',
      `${id} was judged by the bound ${String(root['bound_at'])}, and that of ${rootId} is ${String(boundAt)}`,
    );
  const bound = node.bound.get(text(evidence, 'ref'));
  // What is still held has not happened: it is taken back, however old its plan is.
  const isHeld = bound?.at === undefined || bound.at === null || record.seq < node.first.seq;
  // An effect that is recorded again is judged anew: what fell between its records was spread to the first.
  const isSpread =
    number(evidence, 'position') >
    Math.max(-1, ...(bound?.judged ?? []).filter(({ seq }) => seq < record.seq).map(({ position }) => position));
  const isBeyond = boundAt !== null && bound !== undefined && !isHeld && isSpread && (bound.at ?? 0) < boundAt;
  if (isBeyond ? type !== wentOn(record, rootId) : type === 'CommitBeyondBound')
    broken(
      history,
      'P9',
      'bound',
      `${id} has ${type}: it was recorded at ${String(bound?.at)} and the bound of ${rootId} is ${String(boundAt)}`,
    );
  if (!isBeyond) checkGate(history, record, node, again);
}

/** What can be said of gates from the logs alone. */
interface Gates {
  /** When the bundle was registered, by tenant, epoch milliseconds. */
  readonly registered: ReadonlyMap<string, number>;
  /** Commits whose gate does without what they were made from, as they were told. */
  readonly alone: ReadonlySet<string>;
  readonly stateOf: (commitId: string) => Fields | null;
  /** Place in its log where a commit was rolled back, by id. */
  readonly marked: ReadonlyMap<string, number>;
  /** Runs of which some state was cut into chunks, or given up: whether the gate could see it depends on when. */
  readonly uncertain: ReadonlySet<string>;
}

function gatesOf(history: History): Gates {
  const commits = new Map(
    ofType(history, MUTATIONS, 'CheckpointRecorded').map(({ body }) => [text(body, 'commit_id'), body]),
  );
  const chunked = [...commits.values()].filter((body) => number(body, 'chunks_missing') > 0);
  const givenUp = ofType(history, MUTATIONS, 'CheckpointHardened').map(({ body }) => body);
  return {
    registered: new Map(
      ofType(history, 'recourse.contracts', 'EntryRegistered').map(({ body, decidedAt }) => [
        text(body, 'tenant'),
        decidedAt,
      ]),
    ),
    alone: new Set(
      wireOf(history, 'recourse.tool-executions', 'CheckpointTaken')
        .filter(isAlone)
        .map(({ body }) => text(body, 'commit_id')),
    ),
    stateOf: (id) => (nested(commits.get(id) ?? {}, 'checkpoint')['state'] ?? null) as Fields | null, // a record or null
    marked: new Map(
      ofType(history, MUTATIONS, 'CheckpointRolledBack').map(({ body, seq }) => [text(body, 'commit_id'), seq]),
    ),
    uncertain: new Set([...chunked, ...givenUp].map((body) => text(body, 'run_id'))),
  };
}

/** A commit whose gate does without what fell is reattached; one that is not gated, needs it or holds it falls. */
function checkGate(
  history: History,
  { type, body, seq, decidedAt }: LogRecord,
  { tenant, runId, recorded }: Node,
  gates: Gates,
): void {
  const gate = recorded.type === 'CheckpointRecorded' ? (nested(recorded.body, 'checkpoint')['gate'] ?? null) : null;
  const fallen = text(nested(body, 'evidence'), 'ref').slice('commit/'.length, -'#stands'.length);
  const id = idOf(body);
  const isAdmitted = gate !== null && gates.alone.has(id) && !holdsFallen(id, fallen, seq, gates);
  if (type === 'Reattached' && !isAdmitted)
    broken(history, 'P9', 'gate', `${id} was reattached without ${fallen}, and its gate does not admit it so`);
  const isSure = !gates.uncertain.has(runId) && decidedAt - (gates.registered.get(tenant) ?? Infinity) > READ_WITHIN_MS;
  if (FALLEN.includes(type) && isAdmitted && isSure)
    broken(history, 'P9', 'gate', `${id} fell with ${fallen}, and its gate admits it without`);
}

/** What the one bundle of the world asks for. */
function isAlone({ body }: WireRecord): boolean {
  const gate = nested(body, 'checkpoint')['gate'] as Fields | null | undefined; // a record or null
  if (gate === null || gate === undefined) return false;
  const told = readPayload(gate['inputs'] as Payload) as {
    readonly gate: { readonly alone: boolean };
  }; // the stories wrote it
  return told.gate.alone;
}

/** A delta holds what the states below it hold. */
function holdsFallen(id: string, fallen: string, seq: number, { stateOf, marked }: Gates): boolean {
  for (
    let base = stateOf(id)?.['base_id'] ?? null;
    typeof base === 'string';
    base = stateOf(base)?.['base_id'] ?? null
  ) {
    if (base === fallen || (marked.get(base) ?? Infinity) < seq) return true;
  }
  return false;
}

/** Where a run goes on after a fall stood when it was said, and is of that run. */
function checkResumes(history: History): void {
  const commits = new Map(
    ofType(history, MUTATIONS, 'CheckpointRecorded').map((record) => [text(record.body, 'commit_id'), record]),
  );
  const marked = new Map(
    ofType(history, MUTATIONS, 'CheckpointRolledBack').map(({ body, seq }) => [text(body, 'commit_id'), seq]),
  );
  for (const { body, seq } of ofType(history, MUTATIONS, 'CheckpointRolledBack')) {
    if (body['resume'] === null) continue;
    const resume = text(nested(body, 'resume'), 'commit_id');
    const commit = commits.get(resume);
    if (commit === undefined || commit.body['run_id'] !== body['run_id'] || commit.seq > seq)
      broken(history, 'P9', 'resume', `${idOf(body)} leads back to ${resume}, which is no commit before it in its run`);
    if ((marked.get(resume) ?? Infinity) <= seq)
      broken(history, 'P9', 'resume', `${idOf(body)} leads back to ${resume}, which had fallen`);
  }
}
