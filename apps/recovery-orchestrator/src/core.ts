// The log recourse.recoveries as a core: marks, approvals, reports and timers in; decisions of recovery out.
//
// Boundary: says what the log reads and who decides it: commands in recoveries.commands.ts, what others tell in
// recoveries.news.ts, timers here. Holds no rule of recovery.
import { contractView, entryView, subjectOfRecord } from '@recourse/contract';
import type {
  Decided,
  DecideContext,
  Decision,
  InputSpec,
  RecordInput,
  ServiceCore,
  TimerInput,
} from '@recourse/event-log';
import { NOTHING } from '@recourse/event-log';
import { isAskOfLedger } from '@recourse/kernel';
import { RECOVERIES_LOG } from './rules/record.messages.js';
import type { RecoveryRecord } from './rules/record.messages.js';
import { due, resume } from './rules/step/step.decider.js';
import { dueForward } from './core/forward.part.js';
import { FORWARD_KIND } from './rows/forward.rows.js';
import { isLegOwed, legRequests } from './core/leg-request.js';
import { NOTICES_INPUT } from './core/lineage.part.js';
import { COMMAND_TYPES, onCommand } from './core/commands.js';
import { append, policyOf, stepContext } from './core/context.js';
import type { Asked, CorePolicy, RecoveriesConfig } from './core/context.js';
import { foldRecovery } from './rows.js';
import { readHalt, readRow, RECOVERY_KINDS } from './rows/kinds.js';
import { onMutations, onNotices, onReport, onSwitch } from './core/news.js';

export { RECOVERIES_LOG } from './rules/record.messages.js';
export type { RecoveriesConfig } from './core/context.js';

const COMMANDS = 'recourse.recovery-commands';
const MUTATIONS = 'recourse.mutations';
const RESULTS = 'recourse.tool-results';
const CONTRACTS = 'recourse.contracts';
const NOTICES = 'recourse.rollback-notifications';

const INPUTS: readonly InputSpec[] = [
  { topic: COMMANDS, source: 'wire', mode: 'aligned', types: COMMAND_TYPES },
  {
    topic: MUTATIONS,
    source: 'log',
    mode: 'aligned',
    types: [
      'MutationsFell',
      'MutationReaffirmed',
      'RecoverabilityChanged',
      'MutationRecorded',
      'BreakerOpened',
      'BreakerClosed',
    ],
    concerns: isNews,
  },
  {
    topic: RESULTS,
    source: 'wire',
    mode: 'aligned',
    types: ['LegReported'],
    concerns: ({ body }) => !isAskOfLedger(String(body['leg_id'])),
  },
  {
    topic: CONTRACTS,
    source: 'log',
    mode: 'broadcast',
    types: ['EntryRegistered', 'EntryRetired'],
    concerns: ({ body }) => body['kind'] === 'kill_switch',
  },
];

/** Who decides the records of a topic. */
const DECIDE: Readonly<Record<string, (asked: Asked) => Decision>> = {
  [COMMANDS]: onCommand,
  [MUTATIONS]: onMutations,
  [RESULTS]: onReport,
  [CONTRACTS]: onSwitch,
  [NOTICES]: onNotices,
};

/** Builds the core of recourse.recoveries. */
export function recoveriesCore(config: RecoveriesConfig): ServiceCore {
  const policy = policyOf(config);
  const inputs = [...INPUTS, NOTICES_INPUT];
  return {
    log: RECOVERIES_LOG,
    inputs,
    views: [contractView, entryView],
    kinds: RECOVERY_KINDS,
    sealScope: ({ body }, state, member) => {
      const about = { ...body, ...member };
      return subjectOfRecord(
        about,
        (run) => readRow(state, 'step', run, String(about['step_id']))?.ref.subject_ref ?? null,
      );
    },
    keyOf: (decided) =>
      decided.type === 'HaltsReviewed' ? `kill-switch/${String(decided.body['name'])}` : runOf(decided.body),
    decide: (context, input) => {
      if (input.source === 'timer') return append(onTimer(context, input, policy));
      const isHeard = inputs.some(({ topic, types }) => topic === input.topic && types.includes(input.type));
      return (isHeard ? DECIDE[input.topic]?.({ context, input, policy }) : null) ?? NOTHING;
    },
    evolve: foldRecovery,
    react: legRequests,
    owed: isLegOwed,
  };
}

/** Picks what matters here: marks, windows that close, what the ledger learns of a commit after its mark, breakers over what is called. */
function isNews({ type, body }: Pick<RecordInput, 'type' | 'body'>): boolean {
  switch (type) {
    case 'RecoverabilityChanged':
      return body['event'] === 'window_closed';
    case 'MutationRecorded':
      return (body['rollback_id'] ?? null) !== null;
    case 'BreakerOpened':
    case 'BreakerClosed':
      return body['scope'] === 'capability';
    default:
      return true;
  }
}

/** What a row does whose time has come. */
function onTimer(
  context: DecideContext,
  { address, dueAt }: TimerInput,
  policy: CorePolicy,
): readonly RecoveryRecord[] {
  const { kind, group, key } = address;
  const { state, now } = context;
  switch (kind) {
    case 'step': {
      const step = readRow(state, 'step', group, key);
      return step === undefined ? [] : due(step, dueAt, stepContext(context, step.run_id, policy));
    }
    case 'halt':
      return resumeHalted(context, key, policy);
    case FORWARD_KIND:
      return dueForward(state, group, key, now);
    default:
      return [];
  }
}

/** The switches changed: a halted step goes on, or stays halted for another one. */
function resumeHalted(context: DecideContext, stepId: string, policy: CorePolicy): readonly RecoveryRecord[] {
  const halt = readHalt(context.state, stepId);
  const step = halt === undefined ? undefined : readRow(context.state, 'step', halt.run_id, stepId);
  return step === undefined ? [] : resume(step, stepContext(context, step.run_id, policy));
}

function runOf(body: Decided['body']): string {
  return String(body['run_id']);
}
