// The lineage as SVG and as DOT. Pure; every text of somebody else is escaped.
import { layersOf, markOf } from './lineage-graph.js';
import type { Drawn, DrawnEdge, DrawnNode } from './lineage-graph.js';

const [WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN] = [220, 64, 28, 56, 24];
const [LABEL_MAX, HEARD_MAX] = [28, 36];
const DASHES: Readonly<Record<string, string>> = { was: '5 4', reattached: '1 0', derived: '1 0' };

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A picture that needs nothing but itself: layers from parents to children, dashed what no longer holds. */
export function lineageSvg(drawn: Drawn): string {
  const layers = layersOf(drawn);
  const columns = Math.max(1, ...layers.map(({ length }) => length));
  const [width, height] = [
    2 * MARGIN + columns * (WIDTH + GAP_X),
    2 * MARGIN + Math.max(1, layers.length) * (HEIGHT + GAP_Y),
  ];
  const places = new Map(
    layers.flatMap((layer, row) =>
      layer.map(({ id }, at): [string, Point] => [
        id,
        { x: MARGIN + (at + (columns - layer.length) / 2) * (WIDTH + GAP_X), y: MARGIN + row * (HEIGHT + GAP_Y) },
      ]),
    ),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" width="${String(width)}" height="${String(height)}" font-family="sans-serif" font-size="12">`,
    `<title>Lineage around ${escaped(drawn.commit)}${drawn.rollback === null ? '' : `, rollback ${escaped(drawn.rollback)}`}</title>`,
    ...drawn.edges.map((edge) => pathOf(edge, places)),
    ...drawn.nodes.map((node) => boxOf(node, places.get(node.id), node.id === drawn.commit)),
    '</svg>',
  ].join('\n');
}

/** The graph in the language of Graphviz. */
export function lineageDot({ nodes, edges, commit }: Drawn): string {
  return [
    'digraph lineage {',
    '  node [shape=box, style=rounded, fontname="sans-serif"];',
    ...nodes.map(
      (node) =>
        `  ${quoted(node.id)} [label=${quoted(`${node.label}\n${markOf(node.state).words}${heardOf(node) === '' ? '' : `\n${heardOf(node)}`}`)}, color="${markOf(node.state).color}"${node.id === commit ? ', penwidth=3' : ''}];`,
    ),
    ...edges.map(
      ({ from, to, kind }) =>
        `  ${quoted(from)} -> ${quoted(to)}${kind === 'derived' ? '' : ` [label=${quoted(kind)}${kind === 'was' ? ', style=dashed' : ''}]`};`,
    ),
    '}',
  ].join('\n');
}

function boxOf(node: DrawnNode, place: Point | undefined, isAsked: boolean): string {
  if (place === undefined) return '';
  const { mark, words, color } = markOf(node.state);
  const line = (at: number, text: string, more = ''): string =>
    `<text x="${String(place.x + 10)}" y="${String(place.y + at)}"${more}>${escaped(text)}</text>`;
  return (
    `<g data-id="${escaped(node.id)}" data-state="${escaped(node.state)}"><title>${escaped(node.id)} of ${escaped(node.run)}</title>` +
    `<rect x="${String(place.x)}" y="${String(place.y)}" width="${String(WIDTH)}" height="${String(HEIGHT)}" rx="8" fill="#fff" stroke="${color}" stroke-width="${isAsked ? '4' : '2'}"/>` +
    `${line(20, cut(node.label === '' ? node.id : node.label, LABEL_MAX), ' font-weight="bold"')}${line(38, `${mark} ${words}`, ` fill="${color}"`)}${line(54, cut(heardOf(node), HEARD_MAX), ' font-size="10" fill="#555"')}</g>`
  );
}

function pathOf({ from, to, kind }: DrawnEdge, places: ReadonlyMap<string, Point>): string {
  const [above, below] = [places.get(from), places.get(to)];
  if (above === undefined || below === undefined) return '';
  const [x1, y1, x2, y2] = [above.x + WIDTH / 2, above.y + HEIGHT, below.x + WIDTH / 2, below.y];
  const bend = (y1 + y2) / 2;
  return `<path data-from="${escaped(from)}" data-to="${escaped(to)}" data-kind="${escaped(kind)}" d="M ${String(x1)} ${String(y1)} C ${String(x1)} ${String(bend)}, ${String(x2)} ${String(bend)}, ${String(x2)} ${String(y2)}" fill="none" stroke="${kind === 'reattached' ? '#1565c0' : '#888'}" stroke-width="1.5" stroke-dasharray="${DASHES[kind] ?? '1 0'}"/>`;
}

function heardOf({ told, silent }: DrawnNode): string {
  return [told.length === 0 ? '' : `told ${told.join(', ')}`, silent.length === 0 ? '' : `silent ${silent.join(', ')}`]
    .filter((text) => text !== '')
    .join('; ');
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
/** XML takes no control characters at all. */
function escaped(text: string): string {
  return (
    text
      // eslint-disable-next-line no-control-regex -- these are what XML 1.0 forbids
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  );
}
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
