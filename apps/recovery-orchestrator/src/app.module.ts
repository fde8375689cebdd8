// What the recovery orchestrator is made of.
import type { ServiceSpec } from '@recourse/service';
import { recoveriesCore, RECOVERIES_LOG } from './application/recoveries.core.js';
import type { OrchestratorConfig } from './config.js';
import { ForwardApprovalsController } from './inbound/http/forward-approvals.controller.js';
import { RecoveriesController } from './inbound/http/recoveries.controller.js';
import { TasksController } from './inbound/http/tasks.controller.js';
import { UndosController } from './inbound/http/undos.controller.js';

export function serviceSpec({ leaseKey, leaseMs, reviewDeadlineMs, forwardValidMs, retryBaseMs, retryMaxMs }: OrchestratorConfig): ServiceSpec {
  return {
    name: 'recovery-orchestrator', commandTopic: 'recourse.recovery-commands', commandLog: RECOVERIES_LOG,
    // Owners of agents are those of their charters, which the core reads from the registry's log (DESIGN 3.5).
    cores: () => [recoveriesCore({ leaseKey, leaseMs, reviewDeadlineMs, forwardValidMs, backoff: { baseMs: retryBaseMs, maxMs: retryMaxMs }, ownerOf: () => null })],
    controllers: [RecoveriesController, UndosController, TasksController, ForwardApprovalsController],
  };
}
