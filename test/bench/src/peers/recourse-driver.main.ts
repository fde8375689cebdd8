// Asks Recourse for recoveries and sagas, and learns from the log when they have ended.
import { COMMANDS } from '../edge-commands.js';
import { benchOn } from '../bench-stack.js';
import { undoer } from '../recovery-system.js';
import { task } from '../worker-process.js';
import { serveCells } from './drive.js';
import { openPool } from './http-pool.js';
import type { DriverTask } from './recourse.engine.js';
import { RunEnds } from './run-ends.js';
import type { Variant } from './work.js';

const CONNECTIONS = 512;

const { facts, folder, plan, digest, agentPort } = task<DriverTask>();
const bench = benchOn(facts, folder);
const ends = await RunEnds.open(bench);
await bench.codecs.prepareWriter(COMMANDS, { register: true });
const undo = undoer(bench, await bench.kafka.wireProducer(), plan);
const agent = await openPool(agentPort, CONNECTIONS);

async function saga(variant: Variant, run: string): Promise<void> {
  const { status } = await agent.request('POST', `/saga/${run}/${variant}/${digest}`);
  if (status !== 200) throw new Error(`the agent answered ${String(status)}`);
}

serveCells({}, async ({ workload, variant }, run) => {
  const ended = ends.of(run);
  await Promise.all([ended, workload === 'saga' ? saga(variant, run) : undo(run)]);
});
