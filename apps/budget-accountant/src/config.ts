// Environment of the budget accountant.
import { integer, text } from '@recourse/config';
import type { ConfigOf } from '@recourse/config';
import { SERVICE_CONFIG } from '@recourse/service';

export const CONFIG = {
  ...SERVICE_CONFIG,
  escalationOwner: text('RECOURSE_ESCALATION_OWNER', {
    doc: 'Who is asked about escalations and overruns.',
    fallback: 'role:approver',
  }),
  escalationDeadlineMs: integer('RECOURSE_ESCALATION_DEADLINE_MS', {
    doc: 'How long a person has to decide.',
    min: 1_000,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '86400000',
  }),
  settleWithinMs: integer('RECOURSE_SETTLE_WITHIN_MS', {
    doc: 'How long a reservation may stay unused before a person is asked.',
    min: 1_000,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '86400000',
  }),
  approvalWithinMs: integer('RECOURSE_APPROVAL_WITHIN_MS', {
    doc: 'How long the record of an approval may take after that of its effect, before nobody counts as asked.',
    min: 1_000,
    max: 86_400_000,
    unit: 'milliseconds',
    fallback: '300000',
  }),
} as const;

export type AccountantConfig = ConfigOf<typeof CONFIG>;
