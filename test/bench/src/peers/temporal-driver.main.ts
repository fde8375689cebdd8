// Starts workflows of Temporal and waits for their results.
import { task } from '../worker-process.js';
import { serveCells } from './drive.js';
import { peerModule } from './peer-modules.js';
import type { TemporalTask } from './temporal.engine.js';
import { NAMESPACE, TASK_QUEUE } from './temporal-names.js';
import type { TemporalClient } from './temporal-names.js';

const { Client, Connection } = await peerModule<TemporalClient>('@temporalio/client', 'temporal');
const connection = await Connection.connect({ address: task<TemporalTask>().address });
const { workflow } = new Client({ connection, namespace: NAMESPACE });
serveCells({}, async ({ workload, variant }, run) => {
  await workflow.execute(workload, { taskQueue: TASK_QUEUE, workflowId: run, args: [run, variant] });
});
