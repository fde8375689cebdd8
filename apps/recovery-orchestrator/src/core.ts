// The log recourse.recoveries as a table: commands of people, marks, reports and timers in; decisions of recovery out.
//
// Boundary: says what the log hears, keeps and sends, and who decides it. What its lines call stands in core/, rules in rules/.
import { contractView, entryView, subjectOfRecord } from '@recourse/contract';
import { commandsOf, core } from '@recourse/event-log';
import type { DecideContext, Decision, Due, ServiceCore, TimerInput } from '@recourse/event-log';
import { COMMANDS_WIRE, recoveryCommands } from './core/commands.js';
import { append, policyOf, stepContext } from './core/context.js';
import type { CorePolicy, RecoveriesConfig } from './core/context.js';
import { onForwardDue } from './core/forward.part.js';
import { isLegOwed, LEG_REQUESTS } from './core/leg-request.js';
import { heardByRecoveries } from './core/news.js';
import { EVOLVE } from './rows.js';
import { FORWARD_KIND } from './rows/forward.rows.js';
import { readHalt, readRow, RECOVERY_KINDS } from './rows/kinds.js';
import { RECOVERIES_LOG } from './rules/record.messages.js';
import { due, resume } from './rules/step/step.decider.js';

export { RECOVERIES_LOG } from './rules/record.messages.js';
export type { RecoveriesConfig } from './core/context.js';

/** Builds the core of recourse.recoveries. */
export function recoveriesCore(config: RecoveriesConfig): ServiceCore {
  const policy = policyOf(config);
  return core<typeof RECOVERIES_LOG>(RECOVERIES_LOG, {
    inputs: [
      commandsOf(COMMANDS_WIRE, {
        key: { is: ({ run_id: runId }) => String(runId), name: 'run' },
        commands: recoveryCommands(policy),
      }),
      ...heardByRecoveries(policy),
    ],
    views: [contractView, entryView],
    rows: RECOVERY_KINDS.map((spec) => ({ spec })),
    edition: 4,
    keyOf: (body) => ('run_id' in body ? body.run_id : `kill-switch/${body.name}`),
    evolve: EVOLVE,
    due: dueOf(policy),
    sends: LEG_REQUESTS,
    owed: isLegOwed,
    sealScope: ({ body }, state, member) => {
      const about = { ...body, ...member };
      return subjectOfRecord(
        about,
        (run) => readRow(state, 'step', run, String(about['step_id']))?.ref.subject_ref ?? null,
      );
    },
  });
}

/** What a row does whose time has come. */
function dueOf(policy: CorePolicy): Due {
  return {
    step: (context, { address: { group, key }, dueAt }) => {
      const step = readRow(context.state, 'step', group, key);
      return append(step === undefined ? [] : due(step, dueAt, stepContext(context, step.run_id, policy)));
    },
    halt: (context, timer) => resumeHalted(context, timer, policy),
    [FORWARD_KIND]: onForwardDue,
  };
}

/** The switches changed: a halted step goes on, or stays halted for another one. */
function resumeHalted(context: DecideContext, { address: { key } }: TimerInput, policy: CorePolicy): Decision {
  const halt = readHalt(context.state, key);
  const step = halt === undefined ? undefined : readRow(context.state, 'step', halt.run_id, key);
  return append(step === undefined ? [] : resume(step, stepContext(context, step.run_id, policy)));
}
