// The graph around a commit by run: a box for each run, with what became of its commits, or one for each commit of a run that is
// opened. A picture of ten thousand commits is some hundred boxes.
//
// Invariants
//   B1. Each commit that was reached is counted in one box.
//   B2. An arrow joins two boxes that are shown; those between the same two boxes are one arrow.
//   B3. What is looked for is shown before what is not, and the run that was asked about before all.
import type { CommitRef } from '@recourse/messages';
import { answersIn, nodeStateOf } from './graph.decisions.js';
import type { Heard } from './graph.decisions.js';
import type {
  AnnouncedOf,
  LineageArrow,
  LineageBox,
  LineageBoxes,
  LineageEdge,
  Named,
  NodeState,
  Reliance,
} from './lineage.messages.js';
import { NODE_STATES } from './lineage.messages.js';

/** More boxes than this nobody reads. */
export const BOXES_MAX = 200;
/** Names that a box tells one by one. */
const NAMES_MAX = 3;

/** What columns know of a commit that was reached. */
export interface Placed {
  readonly run_id: string;
  readonly id: string;
  readonly kind: 'mutation' | 'commit';
  readonly agent: string | null;
  readonly label: string | null;
  readonly subject_ref: string | null;
  readonly rollback_id: string | null;
  /** By its own row; what was announced of it counts as well. */
  readonly is_beyond: boolean;
  readonly reattached: readonly { readonly fallen: CommitRef; readonly parent: CommitRef | null }[];
}

export interface BoxesAsked {
  readonly commit: Named;
  readonly reached: readonly Named[];
  readonly truncated: boolean;
  readonly placed: readonly Placed[];
  readonly reliances: readonly Reliance[];
  readonly heard: readonly Heard[];
  readonly announcedOf: AnnouncedOf;
  /** Runs whose commits are shown one by one. */
  readonly open: ReadonlySet<string>;
  /** What is looked for; empty for nothing. */
  readonly find: string;
}

/** A commit with what its box is made of. */
interface Seen extends Omit<Placed, 'kind' | 'rollback_id' | 'is_beyond'> {
  readonly kind: LineageBox['kind'];
  readonly state: NodeState;
  readonly isFound: boolean;
}

/** Draws up the picture that is answered. */
export function lineageBoxes(asked: BoxesAsked): LineageBoxes {
  const seen = everySeen(asked);
  const boxIdOf = (one: Seen): string => (asked.open.has(one.run_id) ? one.id : `run:${one.run_id}`);
  const members = Map.groupBy(seen, boxIdOf);
  const answers = answersIn(asked.heard);
  const all = [...members].map(([id, commits]) => boxOf(id, commits, asked.open, answers));
  const own = asked.commit.run_id;
  const rank = ({ run_id, found }: LineageBox): number => (run_id === own ? 0 : found > 0 ? 1 : 2);
  const boxes = all.toSorted((a, b) => rank(a) - rank(b)).slice(0, BOXES_MAX);
  const home = new Map(seen.map((one) => [one.id, boxIdOf(one)] as const));
  return {
    commit: asked.commit.id,
    run_id: own,
    tenant: asked.commit.tenant,
    kind: seen.find(({ id }) => id === asked.commit.id)?.kind ?? 'unknown',
    commits: seen.length,
    runs: new Set(seen.map(({ run_id }) => run_id)).size,
    found: seen.filter(({ isFound }) => isFound).length,
    boxes,
    arrows: arrowsOf(asked.reliances, seen, home, new Set(boxes.map(({ id }) => id))),
    left: all.length - boxes.length,
    truncated: asked.truncated,
  };
}

function everySeen({ commit, reached, placed, announcedOf, find }: BoxesAsked): readonly Seen[] {
  const byName = new Map(placed.map((one) => [`${one.run_id}\u0000${one.id}`, one] as const));
  const word = find.trim().toLowerCase();
  const isFound = (...texts: readonly (string | null)[]): boolean =>
    word !== '' && texts.some((text) => text?.toLowerCase().includes(word) === true);
  return reached.map(({ run_id, id }) => {
    const row = byName.get(`${run_id}\u0000${id}`);
    if (row === undefined) return { ...UNRECORDED, run_id, id, isFound: isFound(id, run_id) };
    const { rollback_id, is_beyond, ...rest } = row;
    const isLeft = is_beyond || announcedOf({ tenant: commit.tenant, run_id, id })?.is_beyond === true;
    const state = nodeStateOf({ rollback_id, isReattached: row.reattached.length > 0, isBeyond: isLeft });
    return { ...rest, state, isFound: isFound(id, run_id, row.agent, row.label, row.subject_ref) };
  });
}

const UNRECORDED = {
  kind: 'unknown',
  agent: null,
  label: null,
  subject_ref: null,
  state: 'unrecorded',
  reattached: [],
} as const;

function boxOf(
  id: string,
  commits: readonly Seen[],
  open: ReadonlySet<string>,
  answers: ReturnType<typeof answersIn>,
): LineageBox {
  const [first] = commits;
  const run_id = first?.run_id ?? '';
  const heard = commits.map((one) => answers(one.id));
  return {
    id,
    run_id,
    is_open: open.has(run_id),
    kind: commits.length === 1 ? (first?.kind ?? 'unknown') : 'run',
    commits: commits.length,
    label: commits.length === 1 ? (first?.label ?? null) : null,
    subject_ref: commits.length === 1 ? (first?.subject_ref ?? null) : null,
    agents: someOf(commits.map(({ agent }) => agent)),
    states: NODE_STATES.flatMap((state) => {
      const count = commits.filter((one) => one.state === state).length;
      return count === 0 ? [] : [{ state, commits: count }];
    }),
    told: someOf(heard.flatMap(({ told }) => told)),
    silent: someOf(heard.flatMap(({ silent }) => silent)),
    found: commits.filter(({ isFound }) => isFound).length,
  };
}

function someOf(names: readonly (string | null)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== null))].sort().slice(0, NAMES_MAX);
}

/** B2. The kind is that of most interest among them: what moved before what stayed. */
function arrowsOf(
  reliances: readonly Reliance[],
  seen: readonly Seen[],
  home: ReadonlyMap<string, string>,
  shown: ReadonlySet<string>,
): readonly LineageArrow[] {
  const arrows = new Map<string, LineageArrow>();
  const add = (from: string, to: string, kind: LineageEdge['kind']): void => {
    const [a, b] = [home.get(from), home.get(to)];
    if (a === undefined || b === undefined || a === b || !shown.has(a) || !shown.has(b)) return;
    const before = arrows.get(`${a} ${b}`);
    arrows.set(`${a} ${b}`, {
      from: a,
      to: b,
      kind: before === undefined || before.kind === 'derived' ? kind : before.kind,
      commits: (before?.commits ?? 0) + 1,
    });
  };
  const moved = seen.flatMap(({ id, reattached }) => reattached.map((one) => ({ child: id, ...one })));
  const went = new Set(moved.map(({ child, parent }) => `${child} ${parent?.commit_id ?? ''}`));
  for (const { parent, child } of reliances)
    add(parent, child, went.has(`${child} ${parent}`) ? 'reattached' : 'derived');
  for (const { child, fallen } of moved) add(fallen.commit_id, child, 'was');
  return [...arrows.values()];
}
