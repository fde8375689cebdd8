// Where each box stands: in layers, from what came first to what stands on it. Pure; the layout worker calls it.
import * as dagre from '@dagrejs/dagre';
import type { Arrow } from './lineage.rules.js';
import { HEIGHT, WIDTH } from './lineage.size.js';

interface Place {
  readonly x: number;
  readonly y: number;
}

/** What is used of the library. */
interface Layered {
  setGraph(label: object): unknown;
  setDefaultEdgeLabel(label: () => object): unknown;
  setNode(id: string, label: object): unknown;
  setEdge(from: string, to: string): unknown;
  node(id: string): Place;
}
// Its types name files without their endings, which the resolution of Node does not follow.
const { Graph, layout } = dagre as unknown as {
  readonly Graph: new () => Layered;
  readonly layout: (graph: Layered) => void;
};

export type Places = Readonly<Record<string, Place>>;
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
      const { x, y } = graph.node(id);
      return [id, { x: x - WIDTH / 2, y: y - HEIGHT / 2 }];
    }),
  );
}
