// What the mutation ledger is made of: two logs, one process.
import { setTimeout as pause } from 'node:timers/promises';
import { createPool, databaseUrlOf, LISTS, SERVICE_CONTEXT, SUMS } from '@recourse/service';
import type { ServiceContext, ServiceSpec } from '@recourse/service';
import { assumptionsCore } from './assumptions.core.js';
import { mutationsCore } from './core.js';
import { ledgerSpans } from './core/traces.js';
import { consumerMeasure } from './rules/consumer/consumer.measures.js';
import { triggerMeasures } from './rules/admission/trigger.measures.js';
import { isMutationRecord } from './rules/record.messages.js';
import { effectMeasures } from './rules/effect/effect.measures.js';
import { limitsOf, mutationsConfigOf } from './config.js';
import type { LedgerConfig } from './config.js';
import { AdmissionController, LIMITS_IN_FORCE, RollbackListsController } from './http/admission.controller.js';
import type { LimitsInForce } from './http/admission.controller.js';
import { DrillController } from './http/drill.controller.js';
import { CommitsController } from './http/commits.controller.js';
import { CompensationsController } from './http/compensations.controller.js';
import { ConsumersController } from './http/consumers.controller.js';
import { EffectsController } from './http/effects.controller.js';
import { ErasuresController } from './http/erasures.controller.js';
import { LineageController, LineagePolicy } from './http/lineage.controller.js';
import {
  AssumptionListsController,
  MutationListsController,
  MutationsController,
} from './http/mutations.controller.js';
import { ReevaluationsController } from './http/reevaluations.controller.js';
import { ReconciliationListsController, ReconciliationsController } from './http/reconciliations.controller.js';
import { ReportsController } from './http/reports.controller.js';
import { ResolveController } from './http/resolve.controller.js';
import { UndosController } from './http/undos.controller.js';
import { LEDGER_VERBS } from './http/verbs.controllers.js';
import { AGENT_EFFECTS_VIEW } from './reads/agent-effects.view.js';
import { HardenedCommits } from './store/hardened-commits.js';
import { beginLedgerCounters } from './reads/begun.metrics.js';
import { ConsumerQueries } from './reads/consumer-queries.js';
import { LedgerQueries } from './reads/ledger-queries.js';
import { LineageQueries } from './reads/lineage-queries.js';
import { MUTATIONS_LOG } from './reads/mutation-statements.js';
import { RollbackQueries } from './reads/rollback-queries.js';
import { StateJanitor } from './store/state-janitor.js';
import { ANSWERS } from './generated/answers.js';

/** A closure of hundreds of thousands is walked while everything else is busy with the same fall. */
const WALKS = { connectionsMax: 2, statementTimeoutMs: 60_000 } as const;

const CONTROLLERS: ServiceSpec['controllers'] = [
  ReevaluationsController,
  MutationsController,
  MutationListsController,
  AssumptionListsController,
  CommitsController,
  EffectsController,
  CompensationsController,
  ResolveController,
  ErasuresController,
  ReportsController,
  ConsumersController,
  LineageController,
  ReconciliationsController,
  ReconciliationListsController,
  AdmissionController,
  RollbackListsController,
  DrillController,
  UndosController,
  ...LEDGER_VERBS,
];

export function serviceSpec(config: LedgerConfig): ServiceSpec {
  return {
    name: 'mutation-ledger',
    commandTopic: 'recourse.ledger-commands',
    commandLog: MUTATIONS_LOG,
    cores: [assumptionsCore(), mutationsCore(mutationsConfigOf(config))],
    begin: beginLedgerCounters,
    measure: (record, metrics, rows) => {
      if (!isMutationRecord(record)) return;
      measureConsumers(record, metrics, rows);
      measureTriggers(record, metrics);
      for (const { tool, status, isNewlyIrreversible } of effectMeasures(rows())) {
        if (status !== null) metrics.count('effects', { tool, status });
        if (isNewlyIrreversible) metrics.count('irreversibleEffects', { tool });
      }
    },
    answers: ANSWERS,
    controllers: CONTROLLERS,
    trace: (record) => (isMutationRecord(record) ? ledgerSpans(record) : []),
    providers: providersOf(config),
    views: { [MUTATIONS_LOG]: [AGENT_EFFECTS_VIEW] },
  };
}

/** Reads of the HTTP edge, and what runs beside the loop. */
function providersOf(config: LedgerConfig): NonNullable<ServiceSpec['providers']> {
  return [
    {
      provide: LedgerQueries,
      useFactory: () =>
        new LedgerQueries(
          createPool({ url: databaseUrlOf(config), ...LISTS }),
          createPool({ url: databaseUrlOf(config), ...SUMS }),
        ),
    },
    {
      provide: RollbackQueries,
      useFactory: () => new RollbackQueries(createPool({ url: databaseUrlOf(config), ...SUMS })),
    },
    {
      provide: LIMITS_IN_FORCE,
      useValue: { limits: limitsOf(config), boundMs: config.boundMs ?? null } satisfies LimitsInForce,
    },
    {
      provide: LineageQueries,
      useFactory: () => new LineageQueries(createPool({ url: databaseUrlOf(config), ...WALKS })),
    },
    { provide: LineagePolicy, useValue: new LineagePolicy(config.boundMs ?? null) },
    {
      provide: StateJanitor,
      inject: [SERVICE_CONTEXT],
      useFactory: (service: ServiceContext) => janitorOf(config, service),
    },
    {
      provide: ConsumerQueries,
      useFactory: () =>
        new ConsumerQueries(
          createPool({ url: databaseUrlOf(config), ...LISTS }),
          createPool({ url: databaseUrlOf(config), ...SUMS }),
        ),
    },
  ];
}

function janitorOf(config: LedgerConfig, { host, keys, metrics, onError }: ServiceContext): StateJanitor {
  const commits = new HardenedCommits(createPool({ url: databaseUrlOf(config), ...LISTS, connectionsMax: 1 }));
  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    pause(ms, undefined, { signal }).catch(() => undefined);
  return new StateJanitor({
    commits,
    keys,
    metrics,
    isReady: () => host.health().ready,
    everyMs: config.janitorMs,
    sleep,
    onError,
  });
}

const measureConsumers: NonNullable<ServiceSpec['measure']> = (record, metrics, rows) => {
  const measure = consumerMeasure(record, rows);
  if (measure === null) return;
  if (measure.kind === 'refused') {
    metrics.count('acksRefused', { code: measure.code });
    return;
  }
  const { mode, outcome, seconds } = measure;
  metrics.count('deliveries', { mode, outcome });
  if (seconds !== null) metrics.observe('ackSeconds', { mode }, seconds);
};

const measureTriggers = (
  record: Parameters<NonNullable<ServiceSpec['measure']>>[0],
  metrics: Parameters<NonNullable<ServiceSpec['measure']>>[1],
): void => {
  for (const measure of triggerMeasures(record)) {
    if (measure.series === 'triggers') metrics.count('triggers', { outcome: measure.outcome });
    else metrics.count(measure.series, { scope: measure.scope });
  }
};
