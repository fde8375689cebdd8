// The rules of a contract stated a second time, for specs: from docs/design/contracts.md and the requirements, by somebody who has not read
// rules/. It says only whether a contract may register. Shape is taken for granted.
import type { ContractJson } from './fixtures.testing.js';

type Doc = Readonly<Record<string, unknown>>;
const doc = (value: unknown): Doc => (typeof value === 'object' && value !== null ? (value as Doc) : {});
const PEOPLE = new Set(['human', 'dual_control']);

/** Names of what a contract breaks; empty when it may register with every capability known by name alone. */
export function brokenByOracle(c: ContractJson): readonly string[] {
  return [...draftsAndSchemas(c), ...(isRead(c) ? readBreaks(c) : effectBreaks(c)), ...alwaysBreaks(c)];
}

function isRead(c: ContractJson): boolean {
  return c['impact'] === 'read' && c['approval_mode'] === 'read_only';
}

function draftsAndSchemas(c: ContractJson): readonly string[] {
  return [
    ...(c['draft'] === undefined ? [] : ['draft']),
    ...(doc(c['args_schema'])['type'] === 'object' ? [] : ['arguments are no object']),
  ];
}

function readBreaks(c: ContractJson): readonly string[] {
  const stray = [
    'inverse_capability',
    'compensation_capability',
    'cancel_capability',
    'commit_hold_ms',
    'reversal_args',
    'residue',
    'recovery_cost',
    'stale_check',
    'debt_weight',
  ].filter((field) => c[field] !== undefined);
  return [...stray, ...(c['reversal_class'] === 'compensable' ? ['compensable read'] : [])];
}

function effectBreaks(c: ContractJson): readonly string[] {
  const broken: string[] = [];
  const declared = c['reversal_class'];
  const mode = doc(c['compensation_mode'])['mode'];
  const byPeople = mode === 'manual_runbook' || mode === 'not_supported';
  const held = typeof c['commit_hold_ms'] === 'number' && c['commit_hold_ms'] > 0;
  if (declared === undefined) broken.push('no class');
  if (c['compensation_mode'] === undefined) broken.push('no mode of compensation');
  if (c['idempotency'] === undefined) broken.push('no idempotency');
  if (
    declared === 'irreversible' &&
    !PEOPLE.has(String(c['forward_approval'])) &&
    !(held && c['cancel_capability'] !== undefined)
  )
    broken.push('ungated');
  if (held && Number(c['commit_hold_ms']) < 5_000) broken.push('hold over at once');
  if (c['overwrites'] === undefined && suggestsOverwrite(c)) broken.push('overwrites unsaid');
  if (held && c['cancel_capability'] === undefined) broken.push('hold without cancel');
  if (!held && c['cancel_capability'] !== undefined) broken.push('cancel without hold');
  if (declared === 'compensable') broken.push(...compensableBreaks(c));
  if (c['debt_weight'] !== undefined && !(declared === 'compensable' && Number(c['debt_weight']) >= 0.1))
    broken.push('debt weight');
  if ((declared === 'reversible' || declared === 'compensable') && !byPeople) broken.push(...automatedBreaks(c));
  return broken;
}

function suggestsOverwrite(c: ContractJson): boolean {
  return (
    c['requires_prior_value_capture'] === true ||
    /\.(?:set|update|replace|overwrite|put|patch|edit|change|modify|rename|write|upsert|assign|reassign|reset)_/.test(
      String(c['name']),
    )
  );
}

function compensableBreaks(c: ContractJson): readonly string[] {
  return [
    ...(c['residue'] === undefined ? ['no residue'] : []),
    ...(c['recovery_cost'] === undefined ? ['no cost'] : []),
    ...(c['impact'] === 'financial' && c['requires_external_handle'] !== true ? ['payment without handle'] : []),
  ];
}

function automatedBreaks(c: ContractJson): readonly string[] {
  const broken: string[] = [];
  const undo = c['reversal_class'] === 'reversible' ? c['inverse_capability'] : c['compensation_capability'];
  if (undo === undefined) broken.push('nothing undoes it');
  if (Object.keys(doc(c['reversal_args'])).length === 0) broken.push('no arguments');
  const bounds = [c['reversal_window_ms'], c['expires_after_commit_ms']].filter((bound) => typeof bound === 'number');
  if (bounds.length === 0) broken.push('no window');
  else if (Math.min(...bounds) <= 2_000 + (typeof c['call_timeout_ms'] === 'number' ? c['call_timeout_ms'] : 10_000))
    broken.push('window too short');
  if (c['verification'] === undefined) broken.push('nobody verifies');
  if (c['stale_check'] === undefined && (c['overwrites'] === true || c['unchecked_because'] === undefined))
    broken.push('nobody looks before restoring');
  if (
    c['impact'] === 'destructive' &&
    doc(c['techniques'])['tombstone_ttl_ms'] === undefined &&
    c['requires_prior_value_capture'] !== true
  )
    broken.push('nothing kept');
  return broken;
}

/** What holds for reads and effects alike. */
function alwaysBreaks(c: ContractJson): readonly string[] {
  const broken: string[] = [];
  const [declared, impact, approval] = [c['reversal_class'], c['impact'], c['approval_mode']];
  if (declared === 'reversible' && c['overwrites'] === true && c['requires_prior_value_capture'] !== true)
    broken.push('overwrite without prior value');
  if (approval === 'read_only' && impact !== 'read') broken.push('effect approved as read');
  if (impact === 'read' && (approval === 'local_write' || approval === 'destructive'))
    broken.push('read approved as effect');
  if (declared !== undefined && declared !== 'reversible' && c['inverse_capability'] !== undefined)
    broken.push('stray inverse');
  if (declared !== undefined && declared !== 'compensable' && c['compensation_capability'] !== undefined)
    broken.push('stray compensation');
  if (c['cancel_capability'] === c['name']) broken.push('cancels itself');
  return [...broken, ...governanceBreaks(c), ...observationBreaks(c), ...techniqueBreaks(c)];
}

function governanceBreaks(c: ContractJson): readonly string[] {
  const { mode, runbook, accepted_by } = doc(c['compensation_mode']);
  const asked = c['recovery_approval_mode'] ?? 'human';
  const undoable = c['reversal_class'] === 'reversible' || c['reversal_class'] === 'compensable';
  const caps = doc(c['blast_radius']);
  const files = doc(c['consequence'])['regulatory'] !== undefined;
  return [
    ...(asked === 'auto' && (['financial', 'destructive', 'security_sensitive'].includes(String(c['impact'])) || files)
      ? ['grave and automatic']
      : []),
    ...(files && !PEOPLE.has(String(c['forward_approval'])) ? ['filed by nobody'] : []),
    ...(mode === 'automatic' && asked !== 'auto' ? ['automatic, yet somebody is asked'] : []),
    ...(mode === 'approval_required' && asked === 'auto' ? ['approval, yet nobody is asked'] : []),
    ...((mode === 'automatic' || mode === 'approval_required') && c['reversal_class'] === 'irreversible'
      ? ['mode of machines for what is irreversible']
      : []),
    ...(mode === 'not_supported' && undoable ? ['given up, yet undoable'] : []),
    ...(mode === 'not_supported' && accepted_by === undefined ? ['accepted by nobody'] : []),
    ...(mode === 'manual_runbook' && runbook === undefined ? ['no runbook'] : []),
    ...(caps['max_value_per_run'] !== undefined && c['value'] === undefined ? ['value cap counts nothing'] : []),
    ...(caps['max_subjects_per_run'] !== undefined && c['subject'] === undefined ? ['subject cap counts nothing'] : []),
  ];
}

function observationBreaks(c: ContractJson): readonly string[] {
  const [check, verification, args] = [
    doc(c['stale_check']),
    doc(c['verification']),
    Object.values(doc(c['reversal_args'])).map(doc),
  ];
  const actors = [c['name'], c['inverse_capability'], c['compensation_capability']];
  return [
    ...(c['verification'] !== undefined && actors.includes(verification['verify_capability'])
      ? ['vouches for itself']
      : []),
    ...(c['verification'] !== undefined && provesNothing(verification, check) ? ['proves nothing'] : []),
    ...(c['stale_check'] !== undefined &&
    !['version', 'etag', 'compare_and_swap'].includes(String(check['compares'])) &&
    check['check_act_gap'] === undefined
      ? ['unstated gap']
      : []),
    ...(c['stale_check'] !== undefined && c['unchecked_because'] !== undefined ? ['checked and excused'] : []),
    ...(args.some(({ from }) => from === 'prior_value') && c['requires_prior_value_capture'] !== true
      ? ['reads a prior value nobody keeps']
      : []),
    ...(args.some(({ from }) => from === 'external_ref') && c['requires_external_handle'] !== true
      ? ['reads a handle nobody keeps']
      : []),
  ];
}

/** Of the conditions that random contracts have. */
function provesNothing({ success_condition: condition, verify_capability: by }: Doc, check: Doc): boolean {
  return condition === 'true' || (condition === check['condition'] && by === check['observe_capability']);
}

function techniqueBreaks(c: ContractJson): readonly string[] {
  const { hold, reservation, prior_value_capture, tombstone_ttl_ms } = doc(c['techniques']);
  const held = Number(c['commit_hold_ms'] ?? 0) > 0;
  const bounds = [c['reversal_window_ms'], c['expires_after_commit_ms']].filter((bound) => typeof bound === 'number');
  const undoable = c['reversal_class'] === 'reversible' || c['reversal_class'] === 'compensable';
  return [
    ...(hold === true && !held ? ['claims a hold'] : []),
    ...(reservation === true && (!held || c['cancel_capability'] === undefined) ? ['claims a reservation'] : []),
    ...(prior_value_capture === true && c['requires_prior_value_capture'] !== true ? ['claims a capture'] : []),
    ...(undoable && typeof tombstone_ttl_ms === 'number' && bounds.length > 0 && tombstone_ttl_ms < Math.min(...bounds)
      ? ['short tombstone']
      : []),
  ];
}
