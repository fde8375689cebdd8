// Calls Restate's HTTP ingress.
import { task } from '../worker-process.js';
import { serveCells } from './drive.js';
import { openPool } from './http-pool.js';

const CONNECTIONS = 512;
const { request } = await openPool(task<{ readonly port: number }>().port, CONNECTIONS);
serveCells({}, async ({ workload, variant }, run) => {
  const { status, body } = await request('POST', `/bench/${workload}`, JSON.stringify({ run, variant }));
  if (status !== 200) throw new Error(`Restate answered ${String(status)}: ${body}`);
});
