// The codes of one service each, on the page of codes.
import { code, list, statuses, table } from './code-tables.mjs';

/** Refusals, what does not count, and why recoveries go as they do. */
export async function serviceCodes(built) {
  return `${await refusalCodes(built)}
${await recoveryCodes(built)}`;
}

async function refusalCodes(built) {
  const { CONTRACT_REJECTIONS } = await built('apps/contract-registry/dist/rules/contract/contract.messages.js');
  const { ENTRY_REJECTIONS } = await built('apps/contract-registry/dist/rules/entry/entry.messages.js');
  const { BUDGET_REJECTIONS } = await built('apps/budget-accountant/dist/rules/budget/budget.messages.js');
  const { AUTONOMY_REJECTIONS, SIGNAL_REFUSALS } = await built(
    'apps/budget-accountant/dist/rules/autonomy/autonomy.messages.js',
  );
  const recovery = await built('apps/recovery-orchestrator/dist/rules/refusal.messages.js');
  const ledger = await built('apps/mutation-ledger/dist/rules/refusal.messages.js');
  return `## Refusals of commands

| Service | Codes |
| --- | --- |
| contract-registry | ${statuses({ ...CONTRACT_REJECTIONS, ...ENTRY_REJECTIONS })} |
| mutation-ledger | ${statuses(ledger.REFUSALS)} |
| recovery-orchestrator | ${statuses(recovery.REFUSALS)} |
| budget-accountant | ${statuses({ ...BUDGET_REJECTIONS, ...AUTONOMY_REJECTIONS })} |

## What is said of agents and does not count

The accountant records each as \`SignalRefused\`; nobody is held up by it.

${table(
  ['Code', 'What it means'],
  Object.entries(SIGNAL_REFUSALS).map(([name, meaning]) => [code(name), meaning]),
)}`;
}

async function recoveryCodes(built) {
  const { OVERDUE_REASONS } = await built('apps/mutation-ledger/dist/rules/rollback/rollback.decider.js');
  const { HOLD_REASONS } = await built('apps/mutation-ledger/dist/rules/admission/admission.messages.js');
  const { ESCALATION_REASONS } = await built('apps/recovery-orchestrator/dist/rules/step/step.messages.js');
  const { REPORT_REFUSALS } = await built('apps/recovery-orchestrator/dist/rules/step/leg.messages.js');
  const { ROUTINE_REASONS } = await built('apps/recovery-orchestrator/dist/rules/forward/routine.messages.js');
  const { DECISION_REASONS } = await built('apps/recovery-orchestrator/dist/rules/decision/recovery.decisions.js');
  const { WHY } = await built('apps/recovery-orchestrator/dist/reads/review-words.js');
  const { COMPENSATION_ACTIONS } = await built('libs/contract/dist/playbook.js');
  return `## Reasons of recovery

| What | Codes |
| --- | --- |
| why a step was decided as it was | ${list(DECISION_REASONS)} |
| why a step went to a person | ${list(ESCALATION_REASONS)} |
| why a trigger is held | ${list(HOLD_REASONS)} |
| why a rollback went to a person | ${list(OVERDUE_REASONS)} |
| why a worker's report changes nothing | ${list(REPORT_REFUSALS)} |
| what the playbook lets a guard do about a call that failed | ${list(COMPENSATION_ACTIONS)} |

What a person is told of a step, where a code has words of its own:

${table(
  ['Code', 'In words'],
  Object.entries(WHY).map(([name, words]) => [code(name), words]),
)}

## Why a routine rule leaves an action to a person

Shown with the question, for each rule about the capability, in the order they are looked for.

${table(
  ['Code', 'What it means'],
  Object.entries(ROUTINE_REASONS).map(([name, meaning]) => [code(name), meaning]),
)}`;
}
