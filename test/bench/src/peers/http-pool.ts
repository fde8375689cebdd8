// Keep-alive connections to one port of this machine, for whom every microsecond is on the bill: undici, the same for every engine.
import { peerModule } from './peer-modules.js';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}
export interface HttpPool {
  request(method: 'GET' | 'POST', path: string, body?: string): Promise<HttpAnswer>;
}

/** The part of undici that is used. */
interface Undici {
  readonly Pool: new (origin: string, options: Readonly<Record<string, number>>) => UndiciPool;
}
interface UndiciPool {
  request(options: object): Promise<{ readonly statusCode: number; readonly body: { text(): Promise<string> } }>;
}

const HEADERS = { 'content-type': 'application/json' };
const PATIENCE_MS = 300_000;

export async function openPool(port: number, connections: number): Promise<HttpPool> {
  const { Pool } = await peerModule<Undici>('undici');
  const pool = new Pool(`http://127.0.0.1:${String(port)}`, {
    connections,
    pipelining: 1,
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  });
  return {
    request: async (method, path, body) => {
      const response = await pool.request({ method, path, headers: HEADERS, ...(body === undefined ? {} : { body }) });
      return { status: response.statusCode, body: await response.body.text() };
    },
  };
}
