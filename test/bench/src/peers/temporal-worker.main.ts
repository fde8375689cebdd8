// Temporal's worker: the steps as activities. The workflows are bundled on the way.
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../../scripts/lib/paths.mjs';
import { until } from '../waits.js';
import { serve, task } from '../worker-process.js';
import { peerModule, PEERS_FOLDER } from './peer-modules.js';
import type { TemporalTask } from './temporal.engine.js';
import { NAMESPACE, TASK_QUEUE } from './temporal-names.js';
import type { TemporalClient } from './temporal-names.js';
import { openTools } from './tool-client.js';
import type { Variant } from './work.js';

/** The part of the SDK that is used. */
interface TemporalWorker {
  readonly bundleWorkflowCode: (options: { readonly workflowsPath: string }) => Promise<{ readonly code: string }>;
  readonly NativeConnection: { connect(options: { readonly address: string }): Promise<object> };
  readonly Worker: { create(options: object): Promise<{ run(): Promise<void> }> };
  readonly Runtime: { install(options: object): object };
  readonly DefaultLogger: new (level: string) => object;
}

const READY_WITHIN = { withinMs: 90_000, pollMs: 500 } as const;

const { address, toolPort, folder } = task<TemporalTask>();
const { Connection } = await peerModule<TemporalClient>('@temporalio/client', 'temporal');
const sdk = await peerModule<TemporalWorker>('@temporalio/worker', 'temporal');
const { tools, gatePort } = await openTools(toolPort);
sdk.Runtime.install({ logger: new sdk.DefaultLogger('ERROR') });

const workflowsPath = join(PEERS_FOLDER, 'temporal', 'workflows.js');
copyFileSync(join(root, 'test', 'bench', 'peers', 'temporal', 'workflows.js'), workflowsPath);
const codePath = join(folder, 'bundle.js');
writeFileSync(codePath, (await sdk.bundleWorkflowCode({ workflowsPath })).code);

await until('the namespace', () => register().catch(() => false), READY_WITHIN);
const worker = await createWorker();
void worker.run().catch((cause: unknown) => {
  process.stderr.write(`${String(cause)}\n`);
  process.exit(1);
});
serve({ gatePort }, () => Promise.resolve({}));

/** Makes the namespace; it stays when it is there. */
async function register(): Promise<boolean> {
  const client = await Connection.connect({ address, connectTimeout: 1_000 });
  const retention = { seconds: 86_400 };
  await client.workflowService
    .registerNamespace({ namespace: NAMESPACE, workflowExecutionRetentionPeriod: retention })
    .catch((cause: unknown) => {
      if (!/already/i.test(String(cause))) throw cause;
    });
  return true;
}

async function createWorker(): Promise<{ run(): Promise<void> }> {
  const connection = await sdk.NativeConnection.connect({ address });
  const made: { run(): Promise<void> }[] = [];
  const options = {
    connection,
    namespace: NAMESPACE,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath },
    activities: {
      act: (run: string, variant: Variant, step: number) => tools[variant].act(run, step),
      takeBack: async (run: string, variant: Variant, step: number) => {
        await tools[variant].takeBack(run, step);
        if (!(await tools[variant].look(run, step))) throw new Error(`step ${String(step)} is not taken back`);
      },
    },
    maxConcurrentActivityTaskExecutions: 512,
    maxConcurrentWorkflowTaskExecutions: 256,
    maxConcurrentActivityTaskPolls: 16,
    maxConcurrentWorkflowTaskPolls: 16,
    maxCachedWorkflows: 4_000,
  };
  // A namespace is known to all services only a while after it was made.
  const tried = async (): Promise<boolean> => {
    made.push(
      ...(await sdk.Worker.create(options).then(
        (one) => [one],
        () => [],
      )),
    );
    return made.length > 0;
  };
  await until('the worker', tried, READY_WITHIN);
  const [one] = made;
  if (one === undefined) throw new Error('no worker');
  return one;
}
