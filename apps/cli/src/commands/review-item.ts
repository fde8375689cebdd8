// A step as a person needs to see it before deciding. Pure; shows what the service says and adds nothing.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { payload } from '../output/payload.js';
import { cellText, formatFields, instant, money, span } from '../output/table.js';

/** Text of a step; `now` in epoch milliseconds tells the time left. */
export function describeStep(step: Doc, now: number): string {
  const parts = [
    ['', overview(step, now)],
    ['What was done', forward(step)],
    ['Why it should not stand', evidence(step)],
    ['What is proposed', proposal(step)],
    ['What has happened so far', progress(step)],
  ] as const;
  return parts
    .filter(([, text]) => text !== '')
    .map(([title, text]) => (title === '' ? text : `${title}\n${indented(text)}`))
    .join('\n\n');
}

function overview(step: Doc, now: number): string {
  const endsAt = docOf(step['ref'])['reversal_expires_at'];
  return formatFields([
    ['step', step['step_id']],
    ['recovery', step['recovery_id']],
    ['mutation', step['mutation_id']],
    ['tenant', step['tenant']],
    ['run', step['run_id']],
    ['phase', step['phase']],
    ['reason', step['reason']],
    ['owner', step['owner']],
    ['due', instant(step['deadline_at'])],
    [
      'window ends',
      typeof endsAt === 'number'
        ? `${String(instant(endsAt))} (${endsAt > now ? `${String(span(endsAt - now))} left` : 'over'})`
        : null,
    ],
    ['action digest', step['action_digest']],
  ]);
}

function forward(step: Doc): string {
  const [execution, terms, ref] = [docOf(step['execution']), docOf(step['terms']), docOf(step['ref'])];
  return formatFields([
    ['capability', execution['capability']],
    ['effect', terms['effect']],
    ['objective', execution['objective']],
    ['args', payload(execution['args'])],
    ['result', payload(execution['result'])],
    ['value', money(execution['value'])],
    ['agent', execution['agent_id']],
    ['on behalf of', execution['initiator']],
    ['outside name', ref['external_transaction_ref']],
    ['relied on', ref['assumption_refs']],
  ]);
}

function evidence(step: Doc): string {
  const { kind, ref, source, statement, stated_at } = docOf(step['evidence']);
  return formatFields([
    ['evidence', kind],
    ['about', ref],
    ['stated by', source],
    ['stated at', instant(stated_at)],
    ['statement', payload(statement)],
  ]);
}

function proposal(step: Doc): string {
  const [call, terms] = [docOf(step['call']), docOf(step['terms'])];
  return formatFields([
    ['capability', call['capability']],
    ['args', payload(call['args'])],
    ['impact', call['capability'] === undefined ? null : terms['impact']],
    ['only if', terms['stale_condition']],
    ['proved by', terms['success_condition']],
    ['residue', terms['residue']],
    [
      'approvals',
      typeof step['required_approvals'] === 'number'
        ? `${approvalsOf(step).length} of ${step['required_approvals']}`
        : null,
    ],
  ]);
}

function progress(step: Doc): string {
  const last = docOf(step['last']);
  return formatFields([
    ...approvalsOf(step).map(
      (approval) =>
        [
          'approved by',
          `${cellText(approval['by'])} at ${cellText(instant(approval['at']))}: ${cellText(approval['reason'])}`,
        ] as const,
    ),
    ['denied by', deniedText({ by: step['denied_by'], ...docOf(step['denied_for']) })],
    ['attempt', step['attempt'] === 0 ? null : step['attempt']],
    ['outcome', last['outcome']],
    ['outcome reason', last['reason']],
    ['what helps', unanswered(last['reason'])],
    ['error', last['error_kind']],
    ['the worker says', last['said'] === undefined ? null : payload(last['said'])],
    ...docsOf(last['observations']).map(
      (seen) =>
        [
          'observed',
          `${cellText(seen['phase'])} by ${cellText(seen['capability'])}: ${cellText(payload(seen['observed']))}`,
        ] as const,
    ),
  ]);
}

/** Who denied it, when and why; null where nobody did. */
export function deniedText(denied: unknown): string | null {
  const { by, at, reason } = docOf(denied);
  if (typeof by !== 'string') return null;
  return reason === undefined ? by : `${by} at ${cellText(instant(at))}: ${cellText(reason)}`;
}

/** What helps where nobody answered; null where somebody did. */
export function unanswered(reason: unknown): string | null {
  return reason === 'NO_ANSWER'
    ? 'no worker of its adapter answered in time: look whether one runs, and whether its request topic is there; then have it checked'
    : null;
}

const approvalsOf = (step: Doc): readonly Doc[] => docsOf(step['approvals']);
const docsOf = (value: unknown): readonly Doc[] => (Array.isArray(value) ? value.map(docOf) : []);
const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
