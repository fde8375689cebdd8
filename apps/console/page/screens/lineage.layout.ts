// The layout of a lineage, asked of a worker: the page stays at hand while boxes are placed.
import workerUrl from './lineage.worker.ts?worker&url';
import type { Places } from './lineage.placing.js';
import type { Drawn } from './lineage.rules.js';

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

interface Answer {
  readonly id: number;
  readonly places: Places;
}

const worker = new Worker(trusted(workerUrl), { type: 'module' });
const waiting = new Map<number, (places: Places) => void>();
let asked = 0;
worker.onmessage = ({ data: { id, places } }: MessageEvent<Answer>) => {
  waiting.get(id)?.(places);
  waiting.delete(id);
};

export function placesOf({ boxes, arrows }: Drawn): Promise<Places> {
  asked += 1;
  const id = asked;
  worker.postMessage({ id, ids: boxes.map((box) => box.id), arrows: arrows.map(({ from, to }) => ({ from, to })) });
  return new Promise((resolve) => {
    waiting.set(id, resolve);
  });
}
