// Rules: what the fields of a contract must say together before it binds anybody (DESIGN 6.1).
//
// Each rule reads what is there and lists its problems; none stops another, so an author sees all of them at once.
import type { Json } from '@recourse/kernel';
import { readContract } from './body.js';
import type { ParsedContract } from './body.js';
import { CLASS_WEIGHTS, hasSideEffects, isManual, reversalCapabilityOf, windowOf } from './class.js';
import { conditionProblem } from './condition.js';
import { isInteger, pointerOf, schemaAt } from './json-pointer.js';
import { problem } from './problems.js';
import type { ContractProblem } from './problems.js';
import type { Contract, ContractDraft, ReversalArg } from './shape.js';

/** Capabilities that have a standing contract. */
export interface KnownCapabilities { readonly has: (name: string) => boolean }

type Rule = (contract: ContractDraft) => readonly (ContractProblem | null)[];

/** Impacts whose undoing always takes a person. */
const HUMAN_IMPACTS: readonly string[] = ['financial', 'destructive', 'security_sensitive'];

/** Lists what is wrong with a contract of sound shape. */
export function checkContract(contract: Contract, known: KnownCapabilities): readonly ContractProblem[] {
  return brokenRules(contract, known);
}

/** Reads and checks a contract: problems of shape and of meaning in one list. */
export function reviewContract(body: string, known: KnownCapabilities): ParsedContract {
  const read = readContract(body);
  const named = new Set(read.problems.map((each) => topOf(each.path)));
  // A field whose shape is wrong is already in the list; a rule that misses it would only repeat that.
  const broken = brokenRules(read.draft, known).filter((each) => read.problems.length === 0 || !named.has(topOf(each.path)));
  const problems = [...read.problems, ...(read.problems[0]?.code === 'CONTRACT_NOT_JSON' ? [] : broken)];
  return problems.length === 0 ? { ok: true, contract: read.draft as Contract } : { ok: false, problems };
}

function brokenRules(contract: ContractDraft, known: KnownCapabilities): readonly ContractProblem[] {
  const said = [...RULES.flatMap((rule) => rule(contract)), ...unknownCapabilities(contract, known)];
  return said.filter((each) => each !== null);
}

const classRule: Rule = (contract) => [
  when(hasSideEffects(contract) && contract.reversal_class === undefined, 'REVERSAL_CLASS_MISSING', '/reversal_class', 'the capability has side effects and no reversal class'),
  when(contract.reversal_class === 'reversible' && contract.overwrites === true && contract.requires_prior_value_capture !== true,
    'OVERWRITE_WITHOUT_PRIOR_VALUE', '/requires_prior_value_capture', 'an overwrite is not reversible without its prior value'),
  when(contract.reversal_class === 'compensable' && contract.impact === 'financial' && contract.requires_external_handle !== true,
    'FINANCIAL_WITHOUT_EXTERNAL_HANDLE', '/requires_external_handle', 'a financial effect is compensable only by its handle'),
  when(hasSideEffects(contract) && contract.idempotency === undefined, 'IDEMPOTENCY_MISSING', '/idempotency', 'nothing says how a repeated call is deduplicated'),
  when(contract.debt_weight !== undefined && (contract.reversal_class !== 'compensable' || contract.debt_weight < CLASS_WEIGHTS.compensable),
    'DEBT_WEIGHT_CONTRADICTORY', '/debt_weight', 'this debt_weight does not raise that of a compensable capability'),
];

const reversalRule: Rule = (contract) => {
  const undoable = contract.reversal_class === 'reversible' || contract.reversal_class === 'compensable';
  const field = contract.reversal_class === 'compensable' ? '/compensation_capability' : '/inverse_capability';
  const stray = contract.reversal_class === 'reversible' ? contract.compensation_capability : contract.inverse_capability;
  const automated = undoable && !isManual(contract);
  return [
    when(automated && reversalCapabilityOf(contract) === null, 'REVERSAL_CAPABILITY_MISSING', field, `a ${contract.reversal_class ?? ''} capability names what undoes it`),
    when(undoable && stray !== undefined, 'REVERSAL_CAPABILITY_CONTRADICTORY', contract.reversal_class === 'reversible' ? '/compensation_capability' : '/inverse_capability', 'this capability belongs to another class'),
    when(contract.reversal_class === 'irreversible' && (contract.inverse_capability ?? contract.compensation_capability) !== undefined,
      'REVERSAL_CAPABILITY_CONTRADICTORY', contract.inverse_capability === undefined ? '/compensation_capability' : '/inverse_capability', 'an irreversible capability names a reversal'),
    when(automated && Object.keys(contract.reversal_args ?? {}).length === 0, 'REVERSAL_ARGS_MISSING', '/reversal_args', 'the reversal has no arguments'),
    when(automated && windowOf(contract) === null, 'REVERSAL_WINDOW_MISSING', '/reversal_window_ms', 'the reversal has no window'),
  ];
};

const costRule: Rule = (contract) => contract.reversal_class !== 'compensable' ? [] : [
  when(contract.residue === undefined, 'RESIDUE_MISSING', '/residue', 'a compensation leaves something different'),
  when(contract.recovery_cost === undefined, 'RECOVERY_COST_MISSING', '/recovery_cost', 'nothing bounds what the compensation costs'),
];

const verificationRule: Rule = (contract) => {
  const undoable = contract.reversal_class === 'reversible' || contract.reversal_class === 'compensable';
  const observer = contract.verification?.verify_capability;
  const actors = [contract.name, contract.inverse_capability, contract.compensation_capability];
  return [
    when(undoable && hasSideEffects(contract) && !isManual(contract) && contract.verification === undefined, 'VERIFICATION_MISSING', '/verification', 'nothing observes that the reversal worked'),
    when(observer !== undefined && actors.includes(observer), 'VERIFICATION_BY_ACTOR', '/verification/verify_capability', 'the acting capability would vouch for itself'),
  ];
};

const gateRule: Rule = (contract) => {
  const held = (contract.commit_hold_ms ?? 0) > 0;
  const gated = contract.forward_approval === 'human' || contract.forward_approval === 'dual_control';
  return [
    when(contract.reversal_class === 'irreversible' && hasSideEffects(contract) && !gated && !(held && contract.cancel_capability !== undefined),
      'IRREVERSIBLE_UNGATED', '/forward_approval', 'an irreversible effect has neither a hold that can be cancelled nor a person before it'),
    when(held && contract.cancel_capability === undefined, 'HOLD_WITHOUT_CANCEL', '/cancel_capability', 'a hold that nothing can cancel holds nothing'),
  ];
};

const governanceRule: Rule = (contract) => {
  const mode = contract.compensation_mode?.mode;
  const approval = contract.recovery_approval_mode ?? 'human';
  const clash = (mode === 'automatic' && approval !== 'auto') || (mode === 'approval_required' && approval === 'auto');
  return [
    when(approval === 'auto' && HUMAN_IMPACTS.includes(contract.impact ?? ''), 'AUTO_RECOVERY_FORBIDDEN', '/recovery_approval_mode', `recovery of a ${contract.impact ?? ''} effect is never automatic`),
    when(clash, 'COMPENSATION_MODE_CONTRADICTORY', '/compensation_mode/mode', `${mode ?? ''} does not go with ${approval}`),
    when(mode === 'not_supported' && contract.compensation_mode?.accepted_by === undefined, 'NOT_SUPPORTED_UNACCEPTED', '/compensation_mode/accepted_by', 'nobody accepted that nothing undoes this'),
  ];
};

const expressionRule: Rule = (contract) => [
  ...(contract.stale_check === undefined ? [] : [compiles(contract.stale_check.condition, '/stale_check/condition')]),
  ...(contract.verification === undefined ? [] : [compiles(contract.verification.success_condition, '/verification/success_condition')]),
  ...Object.entries(contract.consequence ?? {}).map(([dimension, text]) => compiles(text, pointerOf(['consequence', dimension]), ['args', 'result'])),
];

const readableRule: Rule = (contract) => [
  ...Object.entries(contract.reversal_args ?? {}).map(([name, source]) => readable(contract, name, source)),
  ...valueProblems(contract),
];

const tombstoneRule: Rule = (contract) => {
  const ttl = contract.techniques?.tombstone_ttl_ms;
  const window = windowOf(contract);
  return [when(ttl !== undefined && window !== null && ttl < window, 'TOMBSTONE_SHORTER_THAN_WINDOW', '/techniques/tombstone_ttl_ms', 'what is deleted is gone before the window closes')];
};

const RULES: readonly Rule[] = [classRule, reversalRule, costRule, verificationRule, gateRule, governanceRule, expressionRule, readableRule, tombstoneRule];

function readable(contract: ContractDraft, name: string, source: ReversalArg): ContractProblem | null {
  const path = pointerOf(['reversal_args', name]);
  switch (source.from) {
    case 'args': return declared(contract.args_schema, source.path, `${path}/path`, 'args_schema');
    case 'result': return declared(contract.result_schema, source.path, `${path}/path`, 'result_schema');
    case 'prior_value': return when(contract.requires_prior_value_capture !== true, 'REVERSAL_ARG_UNREADABLE', path, 'the prior value need not be captured');
    case 'external_ref': return when(contract.requires_external_handle !== true, 'REVERSAL_ARG_UNREADABLE', path, 'the external handle need not be there');
    case 'constant': return null;
  }
}

function declared(schema: ContractDraft['args_schema'], pointer: string, path: string, schemaName: string): ContractProblem | null {
  // A schema that is missing is its own problem. It came in as JSON.
  return when(schema !== undefined && schemaAt(schema as Json, pointer) === undefined, 'REVERSAL_ARG_UNREADABLE', path, `${schemaName} declares no ${pointer}`);
}

function valueProblems(contract: ContractDraft): readonly (ContractProblem | null)[] {
  // The schema came in as JSON.
  const schema = contract.args_schema as Json | undefined;
  if (schema === undefined) return [];
  const amount = contract.value === undefined ? undefined : schemaAt(schema, contract.value.amount);
  const currency = contract.value?.currency;
  return [
    when(contract.value !== undefined && (amount === undefined || !isInteger(amount)), 'VALUE_UNREADABLE', '/value/amount', 'args_schema declares no integer there'),
    when(currency?.startsWith('/') === true && schemaAt(schema, currency) === undefined, 'VALUE_UNREADABLE', '/value/currency', 'args_schema declares nothing there'),
    when(contract.subject !== undefined && schemaAt(schema, contract.subject) === undefined, 'VALUE_UNREADABLE', '/subject', 'args_schema declares nothing there'),
  ];
}

function unknownCapabilities(contract: ContractDraft, known: KnownCapabilities): readonly (ContractProblem | null)[] {
  const named = [
    ['/inverse_capability', contract.inverse_capability], ['/compensation_capability', contract.compensation_capability],
    ['/cancel_capability', contract.cancel_capability], ['/reconcile_capability', contract.reconcile_capability],
    ['/stale_check/observe_capability', contract.stale_check?.observe_capability], ['/verification/verify_capability', contract.verification?.verify_capability],
    ['/techniques/dry_run_capability', contract.techniques?.dry_run_capability],
  ] as const;
  return named.map(([path, name]) => when(name !== undefined && name !== contract.name && !known.has(name), 'CAPABILITY_UNKNOWN', path, `${name ?? ''} has no contract`));
}

function compiles(expression: string, path: string, variables?: readonly string[]): ContractProblem | null {
  const wrong = conditionProblem(expression, variables);
  return wrong === null ? null : problem('CEL_INVALID', path, `the expression does not compile: ${wrong}`);
}

function when(broken: boolean, code: Parameters<typeof problem>[0], path: string, what: string): ContractProblem | null {
  return broken ? problem(code, path, what) : null;
}

function topOf(path: string | undefined): string {
  return (path ?? '').split('/')[1] ?? '';
}
