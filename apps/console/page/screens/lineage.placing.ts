// Where each box stands: in layers, from what came first to what stands on it. Pure, and quick enough to run before a frame: some
// hundred boxes take a millisecond or two.
//
// Invariants
//   L1. A box stands right of all that it rests on, but for arrows that would close a circle.
//   L2. No two boxes overlap.
import type { Arrow } from './lineage.rules.js';
import { HEIGHT, WIDTH } from './lineage.size.js';

interface Place {
  readonly x: number;
  readonly y: number;
}
export type Places = Readonly<Record<string, Place>>;
export interface Asked {
  readonly ids: readonly string[];
  readonly arrows: readonly Pick<Arrow, 'from' | 'to'>[];
}

/** Between two layers, and between two boxes of one, CSS pixels. */
const [LAYER_GAP, BOX_GAP] = [70, 18];
/** Sweeps over the layers that untangle arrows; more change little. */
const SWEEPS = 4;

export function placed({ ids, arrows }: Asked): Places {
  const children = neighbours(ids, arrows);
  const order = orderOf(ids, children);
  const at = new Map(order.map((id, index) => [id, index]));
  const isForward = ({ from, to }: Asked['arrows'][number]): boolean => (at.get(from) ?? 0) < (at.get(to) ?? -1);
  const forward = arrows.filter(isForward);
  const layers = untangled(layersOf(order, forward), forward);
  return Object.fromEntries(
    layers.flatMap((layer, rank) =>
      layer.map((id, row) => [id, { x: rank * (WIDTH + LAYER_GAP), y: (row - layer.length / 2) * (HEIGHT + BOX_GAP) }]),
    ),
  );
}

type Neighbours = ReadonlyMap<string, readonly string[]>;

function neighbours(ids: readonly string[], arrows: Asked['arrows']): Neighbours {
  const found = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { from, to } of arrows) if (found.has(to)) found.get(from)?.push(to);
  return found;
}

/** Each box before those that stand on it; an arrow against this order closes a circle. */
function orderOf(ids: readonly string[], children: Neighbours): readonly string[] {
  const [seen, done] = [new Set<string>(), [] as string[]];
  const visit = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const child of children.get(id)?.toReversed() ?? []) visit(child);
    done.push(id);
  };
  for (const id of ids.toReversed()) visit(id);
  return done.toReversed();
}

/** L1. The layer of a box is the longest way to it. */
function layersOf(order: readonly string[], forward: Asked['arrows']): readonly (readonly string[])[] {
  const children = neighbours(order, forward);
  const ranks = new Map<string, number>();
  const layers: string[][] = [];
  for (const id of order) {
    const rank = ranks.get(id) ?? 0;
    (layers[rank] ??= []).push(id);
    for (const child of children.get(id) ?? []) ranks.set(child, Math.max(ranks.get(child) ?? 0, rank + 1));
  }
  return layers;
}

/** Puts boxes of a layer in the order of what they are joined with, to the left and to the right in turn. */
function untangled(layers: readonly (readonly string[])[], forward: Asked['arrows']): readonly (readonly string[])[] {
  const ids = layers.flat();
  const [down, up] = [
    neighbours(ids, forward),
    neighbours(
      ids,
      forward.map(({ from, to }) => ({ from: to, to: from })),
    ),
  ];
  const heights = new Map<string, number>();
  const keep = (layer: readonly string[]): void => {
    for (const [row, id] of layer.entries()) heights.set(id, row - layer.length / 2);
  };
  layers.forEach(keep);
  let sorted = layers;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0;
    const turned = (isDown ? sorted : sorted.toReversed()).map((layer) => {
      const next = sortedBy(layer, isDown ? up : down, heights);
      keep(next);
      return next;
    });
    sorted = isDown ? turned : turned.toReversed();
  }
  return sorted;
}

/** In the order of the mean height of their neighbours; who has none stays about where it is. */
function sortedBy(
  layer: readonly string[],
  beside: Neighbours,
  heights: ReadonlyMap<string, number>,
): readonly string[] {
  const height = (id: string): number => heights.get(id) ?? 0;
  const wish = (id: string): number => {
    const others = beside.get(id) ?? [];
    return others.length === 0 ? height(id) : others.reduce((sum, other) => sum + height(other), 0) / others.length;
  };
  const wishes = new Map(layer.map((id) => [id, wish(id)]));
  return layer.toSorted((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0));
}
