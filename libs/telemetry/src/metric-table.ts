// The metrics of the project, by name. Labels are of closed sets (topic, partition, reason, outcome): never an id. A tool is one that has a contract.
import { BUDGET_METRICS } from './budget-metrics.js';
import { AUDITOR_METRICS } from './auditor-metrics.js';
import { NOTIFIER_METRICS } from './notifier-metrics.js';

/** Every metric there is; `docs/reference` and the dashboards are written against these names. */
export const METRICS = {
  recordsAccepted: {
    name: 'recourse_records_accepted_total',
    kind: 'counter',
    help: 'Records accepted in an own log.',
    labels: ['log', 'partition'],
  },
  recordsVoid: {
    name: 'recourse_records_void_total',
    kind: 'counter',
    help: 'Records of an own log that the acceptance rule voided, each once; those written before this process began are not counted.',
    labels: ['log', 'partition'],
  },
  recordsParked: {
    name: 'recourse_records_parked_total',
    kind: 'counter',
    help: 'Inputs parked, by reason.',
    labels: ['log', 'reason'],
  },
  recordsRedirected: {
    name: 'recourse_records_redirected_total',
    kind: 'counter',
    help: 'Inputs that lay on another partition than that of their key, and were sent there: their producer needs murmur2.',
    labels: ['log', 'topic'],
  },
  recordsRefused: {
    name: 'recourse_records_refused_total',
    kind: 'counter',
    help: 'Records of a wire dropped because their signature speaks for nobody, or for somebody else.',
    labels: ['log', 'topic', 'reason'],
  },
  recordsUnvouched: {
    name: 'recourse_log_records_unvouched_total',
    kind: 'counter',
    help: 'Records met in a log that its owner did not sign, each once, since this process began: somebody else can write to it.',
    labels: ['log', 'partition'],
  },
  fetchesFailed: {
    name: 'recourse_fetches_failed_total',
    kind: 'counter',
    help: 'Fetches of an input that brought nothing, by code: its broker is silent or its copy damaged, or a transaction is open.',
    labels: ['log', 'topic', 'code'],
  },
  loopFailures: {
    name: 'recourse_loop_failures_total',
    kind: 'counter',
    help: 'Operations of a loop that failed and are tried again, by code: `CLOCK_AHEAD`, `CLOCK_BEHIND`, `DATABASE_UNAVAILABLE` and the like.',
    labels: ['log', 'code'],
  },
  appendsUnknown: {
    name: 'recourse_appends_unknown_total',
    kind: 'counter',
    help: 'Appends whose outcome was unknown, so that the tail was read anew.',
    labels: ['log', 'partition'],
  },
  projectionsFenced: {
    name: 'recourse_projections_fenced_total',
    kind: 'counter',
    help: 'Projections refused because another owner had moved the head.',
    labels: ['log', 'partition'],
  },
  takeOvers: {
    name: 'recourse_take_overs_total',
    kind: 'counter',
    help: 'Partitions this process became owner of.',
    labels: ['log'],
  },
  peersPutOut: {
    name: 'recourse_peers_put_out_total',
    kind: 'counter',
    help: 'Instances that died and were put out of the group by this one.',
    labels: [],
  },
  foreignMembers: {
    name: 'recourse_group_foreign_members',
    kind: 'gauge',
    help: "Members of the service's group that are no instances of it and were given partitions.",
    labels: [],
  },
  cursorLag: {
    name: 'recourse_cursor_lag_records',
    kind: 'gauge',
    help: 'Records between what was read of a partition of an input and its end, by the loop of this process that is furthest behind.',
    labels: ['log', 'partition', 'topic'],
  },
  inputsWaiting: {
    name: 'recourse_inputs_waiting',
    kind: 'gauge',
    help: 'Input records fetched and not yet decided.',
    labels: ['log', 'partition'],
  },
  projectionLag: {
    name: 'recourse_projection_lag_records',
    kind: 'gauge',
    help: 'Accepted records that are not projected yet.',
    labels: ['log', 'partition'],
  },
  reactionLag: {
    name: 'recourse_reaction_lag_records',
    kind: 'gauge',
    help: 'Accepted records whose messages are not known to be sent.',
    labels: ['log', 'partition'],
  },
  parkedOpen: {
    name: 'recourse_parked_open',
    kind: 'gauge',
    help: 'Parked records nobody has decided on, in the whole log: each process tells the same.',
    labels: ['log'],
  },
  obligationAgeSeconds: {
    name: 'recourse_obligation_age_seconds',
    kind: 'gauge',
    help: 'Age of the oldest record that opened an obligation which is not met yet; 0 without one.',
    labels: ['log', 'partition'],
  },
  partitionsOwned: {
    name: 'recourse_partitions_owned',
    kind: 'gauge',
    help: 'Partitions this process owns and that are not halted; 0 for a log of its service of which it has none.',
    labels: ['log'],
  },
  partitionStuck: {
    name: 'recourse_partition_stuck',
    kind: 'gauge',
    help: '1 for a partition of this process that decides nothing (halted, or something is in its way), or that tells consumers nothing, else 0.',
    labels: ['log', 'partition'],
  },
  isReady: { name: 'recourse_ready', kind: 'gauge', help: '1 when the service answers, else 0.', labels: [] },
  batchRecords: {
    name: 'recourse_batch_records',
    kind: 'histogram',
    help: 'Records per append.',
    labels: ['log'],
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000],
  },
  appendSeconds: {
    name: 'recourse_append_seconds',
    kind: 'histogram',
    help: 'Time from the produce request of a batch until the broker said where it landed.',
    labels: ['log'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
  },
  projectSeconds: {
    name: 'recourse_project_seconds',
    kind: 'histogram',
    help: 'Time of one projection transaction.',
    labels: ['log'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
  },
  commandSeconds: {
    name: 'recourse_command_seconds',
    kind: 'histogram',
    help: 'Time from request to projected answer of an edge command.',
    labels: ['route', 'outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10],
  },
  effects: {
    name: 'recourse_effects_total',
    kind: 'counter',
    help: 'Effects of agents by tool, counted each time one comes into a status.',
    labels: ['tool', 'status'],
  },
  irreversibleEffects: {
    name: 'recourse_irreversible_effects_total',
    kind: 'counter',
    help: 'Effects of agents that nothing undoes, by tool.',
    labels: ['tool'],
  },
  recoverySeconds: {
    name: 'recourse_recovery_seconds',
    kind: 'histogram',
    help: 'Time from when a source says that an action should not stand until its compensation was verified, by tool.',
    labels: ['tool'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400],
  },
  recoveriesAutomatic: {
    name: 'recourse_recoveries_automatic_total',
    kind: 'counter',
    help: 'Steps of recoveries that were compensated and verified without a person, by tool.',
    labels: ['tool'],
  },
  recoveriesManual: {
    name: 'recourse_recoveries_manual_total',
    kind: 'counter',
    help: 'Steps of recoveries that a person had a hand in: approved, denied, or taken over, by tool; each once.',
    labels: ['tool'],
  },
  compensationFailures: {
    name: 'recourse_compensation_failures_total',
    kind: 'counter',
    help: 'Attempts to compensate that did not, by tool and reason.',
    labels: ['tool', 'reason'],
  },
  staleConflicts: {
    name: 'recourse_stale_state_conflicts_total',
    kind: 'counter',
    help: 'Times the resource was found changed by somebody else, by a look before the dispatch or by an attempt to compensate, by tool.',
    labels: ['tool'],
  },
  approvalSeconds: {
    name: 'recourse_approval_seconds',
    kind: 'histogram',
    help: 'Time from the question to each decision of a person about it.',
    labels: ['question', 'outcome'],
    buckets: [1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 14_400, 43_200, 86_400, 604_800],
  },
  triggers: {
    name: 'recourse_triggers_total',
    kind: 'counter',
    help: 'Triggers of rollbacks by what became of them: opened, held, redundant; and what people said of them: confirmed, rejected.',
    labels: ['outcome'],
  },
  breakersOpened: {
    name: 'recourse_breakers_opened_total',
    kind: 'counter',
    help: 'Breakers that a burst of triggers opened, by what they are about.',
    labels: ['scope'],
  },
  trendsRaised: {
    name: 'recourse_trends_raised_total',
    kind: 'counter',
    help: 'Steady rises of rollbacks that a person was told of, by whose they are. They hold nothing.',
    labels: ['scope'],
  },
  deliveries: {
    name: 'recourse_deliveries_total',
    kind: 'counter',
    help: 'Consumers that had to hear of a rollback, by mode and by how that ended: acknowledged, late, overdue.',
    labels: ['mode', 'outcome'],
  },
  ackSeconds: {
    name: 'recourse_ack_seconds',
    kind: 'histogram',
    help: 'Time from the mark of a commit until a consumer said that it applied the rollback, by mode.',
    labels: ['mode'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600, 86_400],
  },
  acksRefused: {
    name: 'recourse_acks_refused_total',
    kind: 'counter',
    help: 'Acknowledgements of consumers that are none, by code.',
    labels: ['code'],
  },
  ...NOTIFIER_METRICS,
  ...AUDITOR_METRICS,
  stateKeysDestroyed: {
    name: 'recourse_state_keys_destroyed_total',
    kind: 'counter',
    help: 'Keys of states of commits that were destroyed, since the states were given up.',
    labels: [],
  },
  commits: {
    name: 'recourse_commits',
    kind: 'gauge',
    help: 'Commits without outside effect, by what became of their state: kept, or why it was given up.',
    labels: ['status'],
  },
  ...BUDGET_METRICS,
  requestsRefused: {
    name: 'recourse_requests_refused_total',
    kind: 'counter',
    help: 'HTTP requests refused, by code.',
    labels: ['code'],
  },
} as const satisfies Record<string, MetricSpec>;

export interface MetricSpec {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}
