// Both tools of a worker behind one face: over keep-alive HTTP, and in its own memory.
import { EffectBook } from './effect-book.js';
import { openPool } from './http-pool.js';
import { serveTool } from './tool-server.js';
import { Refused } from './work.js';
import type { EffectTool, Variant } from './work.js';

const CONNECTIONS = 128;
const BODY = JSON.stringify({ amount_minor: 1_250, currency: 'EUR', reason: 'the order was taken back' });

export interface WorkerTools {
  readonly tools: Readonly<Record<Variant, EffectTool>>;
  /** Where the bench asks what the tool in memory saw. */
  readonly gatePort: number;
}

/** `gatePort`: any free one unless told. */
export async function openTools(toolPort: number, gatePort = 0): Promise<WorkerTools> {
  const book = new EffectBook();
  return {
    tools: { http: await httpTool(toolPort), memory: memoryTool(book) },
    gatePort: await serveTool(book, gatePort),
  };
}

async function httpTool(port: number): Promise<EffectTool> {
  const { request } = await openPool(port, CONNECTIONS);
  const post = async (path: string): Promise<void> => {
    const { status } = await request('POST', path, BODY);
    if (status === 409) throw new Refused(`${path} was refused`);
    if (status !== 200) throw new Error(`${path} was answered with ${String(status)}`);
  };
  return {
    act: (run, step) => post(`/act/${run}/${String(step)}`),
    takeBack: (run, step) => post(`/back/${run}/${String(step)}`),
    look: async (run, step) => (await request('GET', `/look/${run}/${String(step)}`)).body === 'true',
  };
}

function memoryTool(book: EffectBook): EffectTool {
  return {
    act: (run, step) =>
      book.act(run, step) ? Promise.resolve() : Promise.reject(new Refused(`step ${String(step)} was refused`)),
    takeBack: (run, step) => {
      book.takeBack(run, step);
      return Promise.resolve();
    },
    look: (run, step) => Promise.resolve(book.look(run, step)),
  };
}
