// recourse approvals …: questions agents ask before an effect, and the decision of a person about exactly that effect.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { alike } from '../output/alike.js';
import { briefFields } from '../output/brief.js';
import { payload } from '../output/payload.js';
import { offerFields } from '../output/offers.js';
import { cellText, docsOf, formatFields, instant, span } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction, addShowAction, pathBelow } from './shapes.js';
import { addVerdict } from './verdict.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'APPROVAL', of: (row) => row['approval_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'AGENT', of: (row) => row['agent_id'] },
  { title: 'PHASE', of: (row) => row['phase'] },
  { title: 'APPROVALS', of: (row) => givenOf(row) },
  { title: 'BY', of: (row) => docsOf(row['approvals']).map((approval) => approval['by']) },
  { title: 'DEADLINE', of: (row) => instant(row['deadline_at'] ?? row['expires_at']) },
];

const approvalPath = pathBelow('/v1/forward-approvals');

export function addApprovals(program: Command, act: Act): void {
  const approvals = program
    .command('approvals')
    .alias('approval')
    .description('questions that agents ask people before an effect');
  addListAction<{ state?: string; run?: string }>(
    approvals
      .command('list')
      .description('lists questions that wait for a person, or those in one phase')
      .option('--state <state>', 'awaiting, approved, denied, used or expired instead of those that wait (open)')
      .option('--run <id>', 'of one run'),
    act,
    {
      service: 'recoveries',
      path: '/v1/forward-approvals',
      columns: COLUMNS,
      query: ({ state, run }) => ({ state, run_id: run }),
    },
  );
  addShowAction(
    approvals
      .command('show')
      .description('shows one question: who wants to do what, on whose behalf, and who has agreed')
      .argument('<approval>', 'approval id'),
    act,
    { service: 'recoveries', path: approvalPath, text: describeApproval },
  );
  const item = { path: approvalPath, describe: describeApproval, argument: 'approval' };
  addVerdict(approvals, act, 'approve', { ...item, description: 'agrees to exactly the action that is shown, once' });
  addVerdict(approvals, act, 'deny', { ...item, description: 'refuses the action that is shown; it is not done' });
}

/** Text of a question; `now` in epoch milliseconds tells the time left. */
export function describeApproval(found: Doc, now: number): string {
  return formatFields([
    ['approval', found['approval_id']],
    ['tenant', found['tenant']],
    ['run', found['run_id']],
    ['phase', found['phase']],
    ['owner', found['owner']],
    untilOf(found, now),
    ['capability', found['capability']],
    ['subject', found['subject_ref']],
    ...briefFields(found['brief']),
    ['args', payload(found['args'])],
    ['dry run says', payload(found['rehearsal'])],
    ['agent', found['agent_id']],
    ['on behalf of', found['initiator']],
    ['answerable', found['answerable_to']],
    ['asked by', found['requested_by']],
    ['asked', instant(found['requested_at'])],
    ['take care', alike(found['lookalikes'])],
    ['contract digest', found['contract_digest']],
    ['approvals', givenOf(found)],
    ...approvalsOf(found),
    ...routineOf(found),
    ['denied by', found['denied_by']],
    ['reason', found['reason']],
    ['used for', found['mutation_id']],
    ...offerFields(found),
    ['action digest', found['action_digest']],
  ]);
}

/** Who agreed, when and why. */
function approvalsOf(found: Doc): readonly (readonly [string, string])[] {
  return docsOf(found['approvals']).map(
    ({ by, at, reason }) =>
      ['approved by', `${cellText(by)} at ${cellText(instant(at))}: ${cellText(reason)}`] as const,
  );
}

/** The routine rule that let it go and what it counted, or why each rule about it did not. */
function routineOf(found: Doc): readonly (readonly [string, string])[] {
  const { bundle, version, rule, registered_by: by, counted } = docOf(found['routine']);
  const counts = docsOf(counted).map(
    ({ scope, name, count, share, window_ms: window }) =>
      `${cellText(scope)} ${cellText(name)}: ${cellText(count)} of ${cellText(share)} in ${cellText(span(Number(window)))}`,
  );
  const letGo = `${cellText(bundle)}@${cellText(version)}/${cellText(rule)}, registered by ${cellText(by)}`;
  return [
    ...(bundle === undefined ? [] : [['let go by rule', letGo] as const, ['counted', counts.join('; ')] as const]),
    ...docsOf(found['not_routine']).map(
      ({ rule: name, code, detail }) =>
        ['not let go by', `${cellText(name)}: ${cellText(code)}: ${cellText(detail)}`] as const,
    ),
  ];
}

/** Until when people may decide, or what they agreed to may be used. */
function untilOf({ deadline_at: deadline, expires_at: expires }: Doc, now: number): readonly [string, unknown] {
  const until = typeof deadline === 'number' ? deadline : typeof expires === 'number' ? expires : null;
  const left = until === null ? null : until > now ? `${String(span(until - now))} left` : 'over';
  return [
    typeof deadline === 'number' ? 'decide by' : 'use by',
    left === null ? null : `${String(instant(until))} (${left})`,
  ];
}

function givenOf(row: Doc): string {
  return `${Array.isArray(row['approvals']) ? row['approvals'].length : 0} of ${cellText(row['required_approvals'])}`;
}
