// The DBOS process: workflows, steps and callers.
import { task } from '../worker-process.js';
import type { DbosTask } from './dbos.engine.js';
import { serveCells } from './drive.js';
import { peerModule } from './peer-modules.js';
import { openTools } from './tool-client.js';
import { actAll, takeAllBack } from './work.js';
import type { Durably, Variant } from './work.js';

type Workflow = (run: string, variant: Variant) => Promise<void>;

/** The part of the SDK that is used. */
interface DbosSdk {
  readonly DBOS: {
    setConfig(config: object): void;
    launch(): Promise<void>;
    registerWorkflow(workflow: Workflow, options: { readonly name: string }): Workflow;
    startWorkflow(workflow: Workflow, options: { readonly workflowID: string }): Begin;
    runStep(work: () => Promise<void>, options: { readonly name: string }): Promise<void>;
  };
}
type Begin = (run: string, variant: Variant) => Promise<{ getResult(): Promise<void> }>;

const { url, pool, toolPort } = task<DbosTask>();
const { DBOS } = await peerModule<DbosSdk>('@dbos-inc/dbos-sdk');
const { tools, gatePort } = await openTools(toolPort);
const durably: Durably = (name, work) => DBOS.runStep(work, { name });

const workflows = {
  recover: DBOS.registerWorkflow((run, variant) => takeAllBack(tools[variant], run, durably), { name: 'recover' }),
  saga: DBOS.registerWorkflow(
    async (run, variant) => {
      try {
        await actAll(tools[variant], run, durably);
      } catch {
        await takeAllBack(tools[variant], run, durably);
      }
    },
    { name: 'saga' },
  ),
};
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: url,
  systemDatabasePoolSize: pool,
  logLevel: 'error',
  enableOTLP: false,
});
await DBOS.launch();
serveCells({ gatePort }, async ({ workload, variant }, run) => {
  const handle = await DBOS.startWorkflow(workflows[workload], { workflowID: run })(run, variant);
  await handle.getResult();
});
