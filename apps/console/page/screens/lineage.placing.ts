// Where each box stands: in layers, from what came first to what stands on it. Pure; the layout worker calls it.
import { Graph, layout } from '@dagrejs/dagre';
import type { Arrow } from './lineage.rules.js';
import { HEIGHT, WIDTH } from './lineage.size.js';

export type Places = Readonly<Record<string, { readonly x: number; readonly y: number }>>;
export interface Asked {
  readonly ids: readonly string[];
  readonly arrows: readonly Pick<Arrow, 'from' | 'to'>[];
}

export function placed({ ids, arrows }: Asked): Places {
  const graph = new Graph();
  // The longest path puts a box in its layer at once; finer rankers take three times as long for the same picture.
  graph.setGraph({ rankdir: 'LR', ranksep: 70, nodesep: 18, ranker: 'longest-path' });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { from, to } of arrows) graph.setEdge(from, to);
  layout(graph);
  return Object.fromEntries(
    ids.map((id) => {
      const { x, y } = graph.node(id) as { readonly x: number; readonly y: number }; // the layout placed all that were set
      return [id, { x: x - WIDTH / 2, y: y - HEIGHT / 2 }];
    }),
  );
}
