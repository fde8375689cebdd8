// DBOS: workflows, steps and callers in one process, on PostgreSQL. No hop to reach it, which favours it.
import { createDatabase } from '@recourse/dev-stack';
import { openHelper } from '../worker-process.js';
import type { Loaded } from './closed-loop.js';
import type { Cell } from './drive.js';
import type { Engine } from './engine.js';
import { peerVersion } from './peer-modules.js';

const POOL = 20;

export interface DbosTask {
  readonly url: string;
  readonly pool: number;
  readonly toolPort: number;
}

export const dbos: Engine = {
  name: 'dbos',
  needsKafka: false,
  settings: () =>
    `${peerVersion('@dbos-inc/dbos-sdk')}; a commit of PostgreSQL per step, fsync on; pool ${String(POOL)}; callers in its process`,
  missing: () => null,
  with: async ({ stack, toolPort }, work) => {
    const { url } = await createDatabase(stack, 'bench_dbos', 'bench_dbos', 'bench');
    const task: DbosTask = { url, pool: POOL, toolPort };
    const worker = await openHelper<Cell, Loaded, { readonly gatePort: number }>('./peers/dbos-worker.main.js', task);
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
