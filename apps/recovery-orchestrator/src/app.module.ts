// What the recovery orchestrator is made of.
import { signingFrom } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { ownerOfLog } from '@recourse/messages';
import { createPool, databaseUrlOf, LISTS, SUMS } from '@recourse/service';
import type { ServiceSpec } from '@recourse/service';
import { recoveriesCore, RECOVERIES_LOG } from './core.js';
import type { RecoveriesConfig } from './core.js';
import { recoveryMeasures } from './core/measures.js';
import { recoverySpans } from './core/traces.js';
import { ratesOf } from './config.js';
import type { OrchestratorConfig } from './config.js';
import { RATES_IN_FORCE, RatesController } from './http/rates.controller.js';
import { ForwardApprovalsController } from './http/forward-approvals.controller.js';
import { RecoveriesController, RecoveryListsController, TRACE_URL } from './http/recoveries.controller.js';
import { ReportsController } from './http/reports.controller.js';
import { IncidentListsController, IncidentsController } from './http/incidents.controller.js';
import { TaskListsController, TasksController } from './http/tasks.controller.js';
import {
  ForwardVerbsController,
  IncidentVerbsController,
  StepVerbsController,
  TaskVerbsController,
} from './http/verbs.controllers.js';
import { KEYRING, WorkersController } from './http/workers.controller.js';
import type { KeyringNow } from './http/workers.controller.js';
import { countMeasures } from './reads/measures.metrics.js';
import { RecoveryQueries } from './reads/recovery-queries.js';
import { ANSWERS } from './generated/answers.js';

const CONTROLLERS = [
  RecoveriesController,
  RecoveryListsController,
  StepVerbsController,
  TaskVerbsController,
  IncidentVerbsController,
  ForwardVerbsController,
  TasksController,
  TaskListsController,
  IncidentsController,
  IncidentListsController,
  ForwardApprovalsController,
  ReportsController,
  RatesController,
  WorkersController,
];

export function serviceSpec(config: OrchestratorConfig): ServiceSpec {
  return {
    name: 'recovery-orchestrator',
    commandTopic: 'recourse.recovery-commands',
    commandLog: RECOVERIES_LOG,
    // Owners of agents are those of their charters, which the core reads from the registry's log (docs/design/edge.md).
    cores: [recoveriesCore(configOf(config))],
    measure: (record, metrics, rows) => {
      countMeasures(recoveryMeasures(record, rows()), metrics);
    },
    trace: (record, rows) => recoverySpans(record, rows()),
    answers: ANSWERS,
    controllers: CONTROLLERS,
    providers: [
      { provide: TRACE_URL, useValue: config.traceUrl ?? null },
      { provide: KEYRING, useValue: keyringOf(config) },
      { provide: RATES_IN_FORCE, useValue: ratesOf(config) },
      {
        provide: RecoveryQueries,
        useFactory: () =>
          new RecoveryQueries(
            createPool({ url: databaseUrlOf(config), ...LISTS }),
            createPool({ url: databaseUrlOf(config), ...SUMS }),
          ),
      },
    ],
  };
}

/** The keyring that this process believes, as it is now, read when it is first asked for; null where wires are open. */
function keyringOf({ wires, keyringFile }: OrchestratorConfig): KeyringNow {
  const places = { wires, keyringFile, signingKeyFile: undefined, signingKeyId: undefined };
  let signing: ReturnType<typeof signingFrom> | undefined;
  return () => {
    signing ??= signingFrom(places, { ownerOf: ownerOfLog, clock: systemClock });
    return signing?.keyring() ?? null;
  };
}

/** What the core is told. */
function configOf(config: OrchestratorConfig): RecoveriesConfig {
  const { leaseKey, leaseMs, reviewDeadlineMs, forwardValidMs, childrenFirstMs, riskLimit } = config;
  return {
    leaseKey,
    leaseMs,
    reviewDeadlineMs,
    forwardValidMs,
    childrenFirstMs,
    riskLimit,
    backoff: { baseMs: config.retryBaseMs, maxMs: config.retryMaxMs },
    ownerOf: () => null,
    rates: ratesOf(config),
  };
}
