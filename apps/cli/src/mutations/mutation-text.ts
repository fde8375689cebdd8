// One mutation as people read it: what was done, how it is undone, and where the log proves it. Pure.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { briefFields } from '../output/brief.js';
import { cellText, docsOf, formatFields, instant, money } from '../output/table.js';

/** Text of a mutation. */
export function describeMutation(found: Doc): string {
  const [ref, execution, terms] = [docOf(found['ref']), docOf(found['execution']), docOf(found['terms'])];
  const facts = formatFields([
    ['mutation', found['mutation_id']],
    ['tenant', found['tenant']],
    ['run', found['run_id']],
    ['capability', found['capability']],
    ['effect', terms['effect']],
    ['agent', execution['agent_id']],
    ['on behalf of', execution['initiator']],
    ...briefFields(found['brief']),
    ['args', docOf(execution['args'])['body']],
    ['result', docOf(execution['result'])['body']],
    ['value', money(execution['value'])],
    ['subject', found['subject_ref']],
    ['relies on', ref['assumption_refs']],
    ['class', ref['reversal_class']],
    ...wayBack(ref),
    ['residue', terms['residue']],
    [
      'contract',
      terms['contract_name'] === undefined
        ? null
        : `${cellText(terms['contract_name'])} version ${cellText(terms['contract_version'])}`,
    ],
    endOf(found['execution_state'], instant(ref['committed_at'])),
    ['window ends', instant(ref['reversal_expires_at'])],
    ['status', found['status']],
    ['execution', found['execution_state']],
    ['recoverability', found['recoverability']],
    ['reason', found['reason']],
    ['rollback', found['rollback_id']],
    ...waitingOf(found),
    ['record', found['recorded_hash']],
  ]);
  return [facts, ...partsOf(found)].join('\n\n');
}

/** When its execution ended, and as what: only one that took effect was committed. */
function endOf(state: unknown, at: string | null): readonly [string, string | null] {
  if (state === 'failed') return ['failed', at === null ? null : `${at}: nothing took effect`];
  if (state === 'uncertain') return ['ended', at === null ? null : `${at}: whether it took effect is not known`];
  return ['committed', at];
}

/** The calls that undo it, in their order. */
function wayBack(ref: Doc): readonly (readonly [string, unknown])[] {
  return [
    ['undone by', ref['reversal_capability']],
    ['with', docOf(ref['reversal_args'])['body']],
    ...docsOf(ref['reversal_then']).flatMap((call): readonly (readonly [string, unknown])[] => [
      ['then by', call['capability']],
      ['with', docOf(call['args'])['body']],
    ]),
  ];
}

/** What stands below the facts, each under its title. */
function partsOf(found: Doc): readonly string[] {
  return [
    ['What was executed to undo it', docsOf(found['compensations']).map(describeCompensation).join('\n\n')] as const,
    ['What proves it', describeProof(docOf(found['proof']))] as const,
  ].flatMap(([title, text]) => (text === '' ? [] : [`${title}\n${text}`]));
}

/** Who is to say what of it, or what they said, and what was tried. */
function waitingOf(found: Doc): readonly (readonly [string, unknown])[] {
  const [awaited, settled] = [docOf(found['awaited']), docOf(found['settled'])];
  return [
    ['waits for', awaited['owner']],
    ['until', instant(awaited['deadline_at'])],
    ['settled as', settled['settled_as']],
    ['settled by', settled['by']],
    ['attempts', found['compensation_attempts'] === 0 ? null : found['compensation_attempts']],
    ['last error', found['last_error']],
  ];
}

/** The compensation as an execution of its own. */
function describeCompensation(found: Doc): string {
  return formatFields([
    ['  compensation', found['compensation_id']],
    ['  capability', found['capability']],
    ['  contract digest', found['contract_digest']],
    ['  value', money(found['value'])],
    ['  execution', found['execution_state']],
    ['  reason', found['reason']],
    ['  attempt', found['attempt']],
    ['  record', found['recorded_hash']],
  ]);
}

/** Place in the log and the hashes that its record commits to. */
function describeProof(proof: Doc): string {
  return formatFields([
    ['  log', proof['log']],
    ['  partition', proof['partition']],
    ['  seq', proof['seq']],
    ['  record hash', proof['recorded_hash']],
    ['  contract digest', proof['contract_digest']],
    ['  bound args', proof['bound_args_sha256']],
    ['  of further calls', proof['further_args_sha256']],
    ['  prior value', proof['prior_value_hash']],
    ['  as reported', proof['content_sha256']],
  ]);
}
