// HTTP edge of what people decide and have done. The routes and their bodies are told by the schemas of the commands; here stands
// where each thing is found, and what its fields may hold beyond their types.
import type { Doc } from '@recourse/event-log';
import { RECOVERY_APPROVAL_MODE_VALUES } from '@recourse/messages';
import { anyJson, idText, verbsController } from '@recourse/service';
import { z } from 'zod';
import { RECOVERIES_LOG } from '../core.js';
import { COMMANDS_WIRE } from '../core/commands.js';
import { FORWARD_KIND } from '../rows/forward.rows.js';
import { GLASS_VALID_MAX_MS, GLASS_VALID_MIN_MS } from '../rules/step/glass.decisions.js';

/** A quarter of an hour. */
const GLASS_VALID_DEFAULT_MS = 900_000;
const ATTEMPT_MAX = 1_000_000;
const said = z.string().min(1).max(20_000);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Doc)[name] : undefined;

const of = (kind: string) => ({ log: RECOVERIES_LOG, kind });
const WIRE = {
  wire: COMMANDS_WIRE,
  key: 'run_id',
  about: { step_id: of('step'), task_id: of('task'), incident_id: of('incident'), approval_id: of(FORWARD_KIND) },
} as const;

/** What people agree to, and what is called then. */
const actionOf = ({ execution, call }: Doc): unknown => ({ execution: memberOf(execution, 'args'), call });

export const StepVerbsController = verbsController({
  ...WIRE,
  tag: 'recoveries',
  below: 'v1/steps',
  standsOn: { ApproveStep: actionOf, BreakGlass: actionOf, RetryStep: actionOf },
  fields: {
    valid_ms: z.number().int().min(GLASS_VALID_MIN_MS).max(GLASS_VALID_MAX_MS).default(GLASS_VALID_DEFAULT_MS),
  },
});

export const TaskVerbsController = verbsController({
  ...WIRE,
  tag: 'tasks',
  below: 'v1/tasks',
  fields: {
    content: z.strictObject({ message: said, safe_state: said.optional(), user_visible_outcome: said.optional() }),
  },
});

export const IncidentVerbsController = verbsController({ ...WIRE, tag: 'incidents', below: 'v1/incidents' });

export const ForwardVerbsController = verbsController({
  ...WIRE,
  tag: 'forward approvals',
  below: 'v1/forward-approvals',
  fields: {
    subject_ref: idText.nullable(),
    initiator: idText.nullable(),
    mode: z.enum(RECOVERY_APPROVAL_MODE_VALUES).extract(['human', 'dual_control']),
    rehearsal: anyJson,
    attempt: z.number().int().min(1).max(ATTEMPT_MAX),
  },
});
