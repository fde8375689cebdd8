// HTTP edge of earned autonomy: what agents have earned, what each change of it follows from, and the outcomes of their work.
import { idText, listsController, runText } from '@recourse/service';
import type { Named } from '@recourse/service';
import { z } from 'zod';
import { RUNGS } from '@recourse/contract';
import { BUDGETS_LOG } from '../core.js';
import { spellingsOf } from '../reads/spellings.query.js';
import type { Autonomy, AutonomyChange } from '../rules/autonomy/autonomy.messages.js';
import type { Outcome } from '../rules/outcomes/outcome.messages.js';

const named: Readonly<Record<string, Named>> = {
  agent_id: (reads, caller, agent, { tenant }) => spellingsOf(reads, caller, agent, tenant),
};

export const AutonomyListsController = listsController<{
  readonly autonomy: Autonomy;
  readonly 'autonomy-changes': AutonomyChange;
  readonly outcomes: Outcome;
}>({
  tag: 'autonomy',
  log: BUDGETS_LOG,
  lists: {
    autonomy: {
      kind: 'autonomy',
      summary: 'What agents have earned at kinds of task: the rung in force, what holds it, and the eight signals.',
      where: {
        agent_id: idText.optional(),
        task_kind: idText.optional(),
        rung: z.enum(RUNGS).optional(),
        frozen_by: z.enum(['replay_failed', 'corrections', 'person']).optional(),
      },
      named,
      one: { column: 'group_key', summary: 'What one agent has earned at one kind of task.' },
    },
    'autonomy-changes': {
      kind: 'autonomy_change',
      summary: 'Every change of what an agent has earned, with what it follows from.',
      where: { autonomy_id: idText.optional(), agent_id: idText.optional(), task_kind: idText.optional() },
      named,
    },
    outcomes: {
      kind: 'outcome',
      summary: 'Outcomes of work as they were counted.',
      where: {
        workflow_id: idText.optional(),
        agent_id: idText.optional(),
        run_id: runText.optional(),
        intent: idText.optional(),
        release: idText.optional(),
      },
      columns: { release: 'version' },
      named,
    },
  },
});
