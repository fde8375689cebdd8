// The graph as the ledger answers it, and the layers it is drawn in.
//
// Boundary: pure; reads what came over HTTP as data of others, so whatever is missing is left out.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';

export interface DrawnNode {
  readonly id: string;
  readonly run: string;
  readonly label: string;
  readonly agent: string | null;
  readonly state: string;
  readonly told: readonly string[];
  readonly silent: readonly string[];
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: string;
}

export interface Drawn {
  readonly commit: string;
  readonly rollback: string | null;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  readonly truncated: boolean;
}

/** What each state is called and drawn with. */
const MARKS: Readonly<Record<string, { readonly mark: string; readonly words: string; readonly color: string }>> = {
  stands: { mark: '●', words: 'stands', color: '#2e7d32' },
  rolled_back: { mark: '✗', words: 'fell', color: '#c62828' },
  reattached: { mark: '↷', words: 'reattached', color: '#1565c0' },
  beyond: { mark: '◐', words: 'beyond the bound', color: '#ef6c00' },
  unrecorded: { mark: '?', words: 'not on record', color: '#757575' },
};

/** How a state is drawn; one that this program does not know, by its own name. */
export function markOf(state: string): { readonly mark: string; readonly words: string; readonly color: string } {
  return MARKS[state] ?? { mark: '?', words: state, color: '#757575' };
}

/** Reads an answer of the ledger. */
export function drawnOf(answer: Doc): Drawn {
  const nodes = listOf(answer['nodes'])
    .map(docOf)
    .map((node): DrawnNode => ({
      id: textOf(node['id']),
      run: textOf(node['run_id']),
      label: textOf(node['label']),
      agent: typeof node['agent'] === 'string' ? node['agent'] : null,
      state: textOf(node['state']),
      told: listOf(node['told']).map(textOf),
      silent: listOf(node['silent']).map(textOf),
    }));
  const known = new Set(nodes.map(({ id }) => id));
  const edges = listOf(answer['edges'])
    .map(docOf)
    .map((edge) => ({ from: textOf(edge['from']), to: textOf(edge['to']), kind: textOf(edge['kind']) }))
    .filter(({ from, to }) => known.has(from) && known.has(to));
  return {
    commit: textOf(answer['commit']),
    rollback: typeof answer['rollback'] === 'string' ? answer['rollback'] : null,
    nodes,
    edges,
    truncated: answer['truncated'] === true,
  };
}

/**
 * Layers from parents to children: each commit below all it was made from.
 *
 * Shape:  what lies on a cycle is put below what is not, in the order it came; within a layer by the place of the parents.
 */
export function layersOf({ nodes, edges }: Pick<Drawn, 'nodes' | 'edges'>): readonly (readonly DrawnNode[])[] {
  const made = edges.filter(({ kind, from, to }) => kind !== 'was' && from !== to);
  const childrenOf = grouped(made, ({ from }) => from);
  const open = new Map<string, number>(nodes.map(({ id }) => [id, 0]));
  for (const { to } of made) open.set(to, (open.get(to) ?? 0) + 1);
  const layer = new Map<string, number>();
  // A set keeps the order of arrival, and what is added while it is walked is walked too.
  const placed = new Set(nodes.filter(({ id }) => open.get(id) === 0).map(({ id }) => id));
  for (const rest of [[], nodes.map(({ id }) => id)]) {
    for (const cyclic of rest) placed.add(cyclic);
    for (const id of placed) {
      for (const { to } of childrenOf.get(id) ?? []) {
        if (placed.has(to)) continue;
        layer.set(to, Math.max(layer.get(to) ?? 0, (layer.get(id) ?? 0) + 1));
        open.set(to, (open.get(to) ?? 0) - 1);
        if (open.get(to) === 0) placed.add(to);
      }
    }
  }
  return ordered(nodes, made, layer);
}

/** Within a layer near the middle of the parents: fewer lines cross. */
function ordered(
  nodes: readonly DrawnNode[],
  made: readonly DrawnEdge[],
  layer: ReadonlyMap<string, number>,
): readonly (readonly DrawnNode[])[] {
  const parentsOf = grouped(made, ({ to }) => to);
  const place = new Map<string, number>();
  const depth = Math.max(-1, ...nodes.map(({ id }) => layer.get(id) ?? 0)) + 1;
  return Array.from({ length: depth }, (_, at) => {
    const middle = ({ id }: DrawnNode): number => {
      const places = (parentsOf.get(id) ?? []).flatMap(({ from }) => place.get(from) ?? []);
      return places.length === 0 ? Infinity : places.reduce((sum, one) => sum + one, 0) / places.length;
    };
    const row = nodes
      .filter(({ id }) => (layer.get(id) ?? 0) === at)
      .map((node) => ({ node, at: middle(node) }))
      .sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
      .map(({ node }) => node);
    row.forEach(({ id }, index) => place.set(id, index));
    return row;
  });
}

/** Things by a name of theirs. */
export function grouped<T>(things: readonly T[], nameOf: (thing: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const group = groups.get(nameOf(thing));
    if (group === undefined) groups.set(nameOf(thing), [thing]);
    else group.push(thing);
  }
  return groups;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
