// Refusals as answers.
import { refused } from '@recourse/event-log';
import type { Decision } from '@recourse/event-log';
import { REFUSALS } from '../rules/refusal.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';

/** Refuses a command; the refusal is its answer. `more` goes into the answer beside it. */
export function refuse({ code, message }: Refusal, more: Readonly<Record<string, unknown>> = {}): Decision<never> {
  return refused(REFUSALS[code], code, message, more);
}
