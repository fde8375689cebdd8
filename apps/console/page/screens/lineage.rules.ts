// A lineage as it is drawn: runs as boxes with counts, and the commits of those that are opened. Pure.

export interface LineageNode {
  readonly id: string;
  readonly run_id: string;
  readonly kind: string;
  readonly agent: string | null;
  readonly label: string | null;
  readonly subject_ref: string | null;
  readonly state: string;
  readonly told: readonly string[];
  readonly silent: readonly string[];
}

export interface Lineage {
  readonly nodes: readonly LineageNode[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly kind: string }[];
}

export interface Box {
  readonly id: string;
  /** Run that a click opens or closes. */
  readonly run: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** The state that most wants looking at, of those in it. */
  readonly state: string;
  readonly isFound: boolean;
}

export interface Drawn {
  readonly boxes: readonly Box[];
  readonly arrows: readonly {
    readonly id: string;
    readonly from: string;
    readonly to: string;
    readonly kind: string;
  }[];
  /** Runs that are not drawn because there are too many; found ones are drawn first. */
  readonly left: number;
}

/** More boxes than this nobody reads, and a layout of them takes seconds. */
export const BOXES_MAX = 400;

/** What most wants looking at stands first. */
const GRAVE = ['beyond', 'rolled_back', 'reattached', 'standing'];

export function grouped({ nodes, edges }: Lineage, opened: ReadonlySet<string>, find: string): Drawn {
  const word = find.trim().toLowerCase();
  const runs = new Map<string, LineageNode[]>();
  for (const node of nodes) {
    const members = runs.get(node.run_id);
    if (members === undefined) runs.set(node.run_id, [node]);
    else members.push(node);
  }
  const all = [...runs].flatMap(([run, members]) => boxesOf(run, members, opened, word));
  const boxes =
    word === ''
      ? all.slice(0, BOXES_MAX)
      : all.toSorted((a, b) => Number(b.isFound) - Number(a.isFound)).slice(0, BOXES_MAX);
  const shown = new Set(boxes.map(({ id }) => id));
  const boxOf = new Map(nodes.map((node) => [node.id, opened.has(node.run_id) ? node.id : `run:${node.run_id}`]));
  const arrows = new Map<string, Drawn['arrows'][number]>();
  for (const { from, to, kind } of edges) {
    const [a, b] = [boxOf.get(from), boxOf.get(to)];
    if (a === undefined || b === undefined || a === b || !shown.has(a) || !shown.has(b)) continue;
    arrows.set(`${a} ${b}`, { id: `${a} ${b}`, from: a, to: b, kind });
  }
  return { boxes, arrows: [...arrows.values()], left: all.length - boxes.length };
}

function boxesOf(
  run: string,
  members: readonly LineageNode[],
  opened: ReadonlySet<string>,
  word: string,
): readonly Box[] {
  const isFound = (node: LineageNode): boolean =>
    word !== '' && `${node.id} ${node.run_id} ${node.agent ?? ''} ${node.label ?? ''}`.toLowerCase().includes(word);
  if (opened.has(run))
    return members.map((node) => ({
      id: node.id,
      run,
      title: node.label ?? node.kind,
      lines: [node.agent ?? '', ...toldLine(node)],
      state: node.state,
      isFound: isFound(node),
    }));
  const [first] = members;
  return [
    {
      id: `run:${run}`,
      run,
      title: members.length === 1 ? (first?.label ?? run) : `${members.length} commits`,
      lines: [first?.agent ?? '', ...countsOf(members)],
      state: gravest(members),
      isFound: members.some(isFound),
    },
  ];
}

function toldLine({ told, silent }: LineageNode): readonly string[] {
  return [
    ...(told.length > 0 ? [`told: ${told.join(', ')}`] : []),
    ...(silent.length > 0 ? [`silent: ${silent.join(', ')}`] : []),
  ];
}

function countsOf(members: readonly LineageNode[]): readonly string[] {
  const counts = Map.groupBy(members, ({ state }) => state);
  return [...counts].map(([state, found]) => `${found.length} ${state.replaceAll('_', ' ')}`);
}

function gravest(members: readonly LineageNode[]): string {
  const states = new Set(members.map(({ state }) => state));
  return GRAVE.find((state) => states.has(state)) ?? members[0]?.state ?? '';
}
