// The bare floor: the same calls, and one commit of one row in PostgreSQL for each step. Nothing else, and nothing recovers.
import { createDatabase } from '@recourse/dev-stack';
import { openHelper } from '../worker-process.js';
import type { Loaded } from './closed-loop.js';
import type { Cell } from './drive.js';
import type { Engine } from './engine.js';

const POOL = 20;

export interface FloorTask {
  readonly url: string;
  readonly pool: number;
  readonly toolPort: number;
}

export const floor: Engine = {
  name: 'floor',
  needsKafka: false,
  settings: () => `a commit of one row per step, fsync on, pool ${String(POOL)}; callers in its process`,
  missing: () => null,
  with: async ({ stack, toolPort }, work) => {
    const { url } = await createDatabase(stack, 'bench_floor', 'bench_floor', 'bench');
    const task: FloorTask = { url, pool: POOL, toolPort };
    const worker = await openHelper<Cell, Loaded, { readonly gatePort: number }>('./peers/floor-worker.main.js', task);
    try {
      return await work({
        driver: worker,
        gatePorts: { http: toolPort, memory: worker.ready.gatePort },
        pids: { postgres: stack.pids.postgres, worker: worker.pid },
      });
    } finally {
      await worker.close();
    }
  },
};
