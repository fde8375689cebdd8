// Controls of the harness audit on what is so once an agent has acted: observability, reversibility, measurement, improvement. A
// table; what its lines conclude stands in the judges.
import { budgeted } from './budget.judges.js';
import * as contracts from './contract.judges.js';
import * as effects from './effect.judges.js';
import type { Five } from './harness.five.js';
import { worst } from './probe.js';
import * as system from './system.judges.js';

export const AFTER = {
  observability: [
    [
      'ready',
      'every service is ready',
      'P0',
      ['ready'],
      system.isReady,
      'Look at its log, and at `recourse parked list`.',
    ],
    ['metrics', 'every service is measured', 'P1', ['metrics'], system.isMeasured, 'Scrape /metrics of each service.'],
    [
      'parked',
      'no record waits unread',
      'P1',
      ['parked'],
      system.nothingParked,
      'See docs/guides/recover-a-parked-record.md.',
    ],
    [
      'proof',
      'effects name their record in the chain',
      'P0',
      ['effects'],
      system.proved,
      'Rebuild the ledger: `recourse replay recourse.mutations`.',
    ],
    [
      'notices',
      'somebody is told what waits',
      'P1',
      ['endpoints'],
      system.told,
      'Start the notifier with an endpoint.',
    ],
  ],
  reversibility: [
    [
      'bound',
      'the way back is bound when the action happens',
      'P0',
      ['effects'],
      effects.boundBack,
      'Bind every argument of the reversal in the contract.',
    ],
    [
      'windows',
      'handles carry windows, and expired ones are with people',
      'P0',
      ['contracts', 'effects', 'steps', 'clock'],
      effects.expiring,
      'Give the contract a reversal_window_ms.',
    ],
    [
      'loop',
      'what fell is recovered, and was once',
      'P0',
      ['effects', 'steps', 'ready'],
      effects.recovers,
      'Start the orchestrator, let the agent act in a tenant of its own, and undo what it did: `recourse undo`.',
    ],
    [
      'governance',
      'undoing is governed like doing',
      'P0',
      ['contracts', 'bundles', 'effects', 'steps'],
      (scope) => worst(contracts.governed(scope), effects.agreed(scope)),
      'Set recovery_approval_mode by impact.',
    ],
    [
      'observed',
      'only what was observed counts as undone',
      'P0',
      ['effects'],
      effects.seenUndone,
      'Look with `recourse mutations show`.',
    ],
  ],
  measurement: [
    [
      'ceilings',
      'debt has ceilings, and accrues',
      'P0',
      ['contracts', 'effects', 'budgets', 'reservations'],
      budgeted,
      'Open a budget per unit, of runs, agents or the tenant: `recourse budgets open`.',
    ],
    [
      'caps',
      'a run is capped in calls, value, subjects and scope',
      'P1',
      ['contracts'],
      contracts.capped,
      'Give the contract a blast_radius with all its caps.',
    ],
    [
      'exposure',
      'what stands exposed is known',
      'P2',
      ['exposure'],
      system.exposureKnown,
      'Ask as somebody of the tenant.',
    ],
    [
      'reasons',
      'it is known why effects land with people',
      'P2',
      ['effectReasons', 'recoveryReport'],
      system.reasonsKnown,
      'Ask as somebody of the tenant.',
    ],
    [
      'consumers',
      'it is known how late consumers hear',
      'P2',
      ['consumers'],
      system.consumersKnown,
      'Ask as somebody of the tenant.',
    ],
  ],
  improvement: [
    [
      'deadlines',
      'nothing that waits for people is overdue',
      'P1',
      ['items'],
      system.inTime,
      'Work through `recourse items`.',
    ],
    [
      'sources',
      'triggers are judged, so that false alarms weigh less',
      'P2',
      ['triggerSources'],
      system.judgedSources,
      'Judge some: `recourse rollbacks confirm` or `reject`.',
    ],
    ['rises', 'no rise of rollbacks is left unseen', 'P1', ['trends'], system.steady, 'Look: `recourse trends list`.'],
    [
      'tasks',
      'no task or incident is past its deadline',
      'P2',
      ['tasks', 'incidents', 'clock'],
      (scope) => worst(system.tasksInTime(scope), system.incidentsInTime(scope)),
      'Work through `recourse tasks list` and `recourse incidents list`.',
    ],
    [
      'consumers',
      'whoever builds on commits hears of their falls',
      'P2',
      ['subscriptions'],
      system.subscribed,
      'Register a subscription of each consumer.',
    ],
  ],
} as const satisfies Readonly<Record<string, Five>>;
