// Where each box stands: in layers, from what came first to what stands on it. Worked out beside the page, in a worker.
import ELK from 'elkjs/lib/elk-api.js';
import workerUrl from 'elkjs/lib/elk-worker.min.js?url';
import type { Drawn } from './lineage.rules.js';

export type Places = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

const WIDTH = 220;
const HEIGHT = 84;

interface ScriptPolicy {
  createScriptURL(address: string): string;
}
interface Policies {
  createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy;
}

/** Browsers that ask for it get the one address that this page makes a worker of. */
function trusted(address: string): string {
  const policies = (globalThis as { readonly trustedTypes?: Policies }).trustedTypes; // not in every browser
  return policies?.createPolicy('recourse', { createScriptURL: (given) => given }).createScriptURL(address) ?? address;
}

const scriptUrl = trusted(workerUrl);
const layout = new ELK({ workerFactory: () => new Worker(scriptUrl) });

export async function placesOf({ boxes, arrows }: Drawn): Promise<Places> {
  const { children = [] } = await layout.layout({
    id: 'lineage',
    layoutOptions: {
      'elk.algorithm': 'layered',
      'elk.direction': 'RIGHT',
      'elk.layered.spacing.nodeNodeBetweenLayers': '70',
      'elk.spacing.nodeNode': '18',
    },
    children: boxes.map(({ id }) => ({ id, width: WIDTH, height: HEIGHT })),
    edges: arrows.map(({ id, from, to }) => ({ id, sources: [from], targets: [to] })),
  });
  return new Map(children.map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
}
