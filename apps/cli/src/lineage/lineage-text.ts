// The lineage as lines of a terminal: a tree from what rests on nothing, each commit drawn once and pointed to from then on. Pure.
import { visibleOnOneLine } from '../output/visible.js';
import { grouped, layersOf, markOf } from './lineage-graph.js';
import type { Drawn, DrawnEdge, DrawnNode } from './lineage-graph.js';

/** How much of an id is shown in the tree; the whole stands in --json. */
const ID_SHOWN = 16;
const KINDS: Readonly<Record<string, string>> = { reattached: ' (now rests on this)', was: ' (did rest on this)' };

/** Draws the graph: marks and words, no colours, so that a pipe and a person read the same. */
export function lineageText(drawn: Drawn): string {
  const { nodes, edges, truncated, commit, rollback } = drawn;
  if (nodes.length === 0)
    return rollback === null
      ? 'nothing is known around this commit'
      : `the rollback ${rollback} reached nothing around this commit`;
  const byId = new Map(nodes.map((node) => [node.id, node] as const));
  const childrenOf = grouped(edges, ({ from }) => from);
  const hasParent = new Set(edges.filter(({ kind }) => kind !== 'was').map(({ to }) => to));
  const [top = []] = layersOf(drawn);
  const roots = [...top, ...nodes].filter(
    (node, at, all) => all.indexOf(node) === at && (!hasParent.has(node.id) || top.includes(node)),
  );
  const seen = new Set<string>();
  const lines = roots
    .filter(({ id }) => !seen.has(id))
    .flatMap((root) => branch({ node: root, kind: 'derived', lead: '', tail: '' }, { byId, childrenOf, seen, commit }));
  return [...lines, '', legend(nodes), ...(truncated ? ['there are more commits than are shown'] : [])].join('\n');
}

interface Standing {
  readonly node: DrawnNode;
  readonly kind: string;
  readonly lead: string;
  readonly tail: string;
}
interface Tree {
  readonly byId: ReadonlyMap<string, DrawnNode>;
  readonly childrenOf: ReadonlyMap<string, readonly DrawnEdge[]>;
  readonly seen: Set<string>;
  readonly commit: string;
}

/** Depth first on a stack: a chain may be longer than calls may be deep. */
function branch(root: Standing, { byId, childrenOf, seen, commit }: Tree): readonly string[] {
  const lines: string[] = [];
  for (const stack = [root]; stack.length > 0;) {
    const one = stack.pop();
    if (one === undefined) break;
    const isAgain = seen.has(one.node.id);
    lines.push(`${one.lead}${lineOf(one.node, { isAgain, isAsked: one.node.id === commit })}${KINDS[one.kind] ?? ''}`);
    if (isAgain) continue;
    seen.add(one.node.id);
    const children = (childrenOf.get(one.node.id) ?? []).flatMap(({ to, kind }) => {
      const node = byId.get(to);
      return node === undefined ? [] : [{ node, kind }];
    });
    stack.push(
      ...children
        .map(({ node, kind }, at) => {
          const isLast = at === children.length - 1;
          return {
            node,
            kind,
            lead: `${one.tail}${isLast ? '└─ ' : '├─ '}`,
            tail: `${one.tail}${isLast ? '   ' : '│  '}`,
          };
        })
        .reverse(),
    );
  }
  return lines;
}

function lineOf(
  { id, label, run, agent, state, told, silent }: DrawnNode,
  { isAgain, isAsked }: { readonly isAgain: boolean; readonly isAsked: boolean },
): string {
  const { mark, words } = markOf(state);
  const name = visibleOnOneLine(`${short(id)}${label === '' ? '' : ` ${label}`}`);
  if (isAgain) return `${mark} ${name} (above)`;
  const heard = [
    told.length === 0 ? '' : `told: ${told.join(', ')}`,
    silent.length === 0 ? '' : `silent: ${silent.join(', ')}`,
  ]
    .filter((text) => text !== '')
    .join('; ');
  return `${mark} ${name}${isAsked ? ' ◀' : ''}  ${visibleOnOneLine(`${words} · ${agent ?? '-'} · ${run}${heard === '' ? '' : ` · ${heard}`}`)}`;
}

function legend(nodes: readonly DrawnNode[]): string {
  const counts = grouped(nodes, ({ state }) => state);
  return [...counts]
    .map(([state, those]) => `${markOf(state).mark} ${String(those.length)} ${markOf(state).words}`)
    .join('   ');
}

function short(id: string): string {
  return id.length <= ID_SHOWN ? id : `${id.slice(0, ID_SHOWN)}…`;
}
