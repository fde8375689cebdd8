// The bare floor: calls and commits.
import { Pool } from 'pg';
import { task } from '../worker-process.js';
import { serveCells } from './drive.js';
import type { FloorTask } from './floor.engine.js';
import { openTools } from './tool-client.js';
import { actAll, takeAllBack } from './work.js';
import type { Durably } from './work.js';

const { url, pool: max, toolPort } = task<FloorTask>();
const { tools, gatePort } = await openTools(toolPort);
const pool = new Pool({ connectionString: url, max });
await pool.query('CREATE TABLE journal (run text, step text, body text, PRIMARY KEY (run, step))');
const body = JSON.stringify({ outcome: 'done', amount_minor: 1_250, currency: 'EUR', key: 'k'.repeat(64) });

serveCells({ gatePort }, async ({ workload, variant }, run) => {
  const durably: Durably = async (step, work) => {
    const failed = await work().then(
      () => null,
      (cause: unknown) => ({ cause }),
    );
    await pool.query({
      name: 'append',
      text: 'INSERT INTO journal (run, step, body) VALUES ($1, $2, $3)',
      values: [run, step, body],
    });
    if (failed !== null) throw failed.cause;
  };
  if (workload === 'saga') await actAll(tools[variant], run, durably).catch(() => undefined);
  await takeAllBack(tools[variant], run, durably);
});
