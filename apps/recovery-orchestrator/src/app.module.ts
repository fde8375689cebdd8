// What the recovery orchestrator is made of.
import type { ServiceSpec } from '@recourse/service';
import { recoveriesCore, RECOVERIES_LOG } from './application/recoveries.core.js';
import type { OrchestratorConfig } from './config.js';
import { RecoveriesController } from './inbound/http/recoveries.controller.js';

export function serviceSpec({ leaseKey, leaseMs, reviewDeadlineMs, retryBaseMs, retryMaxMs }: OrchestratorConfig): ServiceSpec {
  return {
    name: 'recovery-orchestrator', commandTopic: 'recourse.recovery-commands', commandLog: RECOVERIES_LOG,
    // Nobody registers owners of agents yet, so an execution without an initiator has nobody to answer for it (DESIGN 3.5).
    cores: () => [recoveriesCore({ leaseKey, leaseMs, reviewDeadlineMs, backoff: { baseMs: retryBaseMs, maxMs: retryMaxMs }, ownerOf: () => null })],
    controllers: [RecoveriesController],
  };
}
