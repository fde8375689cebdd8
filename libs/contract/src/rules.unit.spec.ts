import { describe, expect, it } from '@jest/globals';
import { contractBody, contractDigest, parseContract } from './body.js';
import type { ContractProblemCode } from './problems.js';
import { CONTRACT_REMEDIES } from './problems.js';
import { exampleContract, labelContract, mailContract, refundContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import { CONTRACT_RULES, reviewContract } from './rules.js';
import { HOLD_MIN_MS } from './rules/governance.rules.js';
import type { ContractDraft } from './shape.js';
import { APPROVAL_MODES, BODY_BYTES_MAX, REVERSAL_CLASSES } from './shape.js';

/** Asks a person before an undo. */
const BY_PEOPLE = { recovery_approval_mode: 'human', compensation_mode: { mode: 'approval_required', reason: 'r' } };
const EVERYTHING = { has: () => true };
const label = labelContract();
const mail = mailContract();

function problems(contract: ContractJson, known: Parameters<typeof reviewContract>[1] = EVERYTHING) {
  const review = reviewContract(JSON.stringify(contract), known);
  return review.ok ? [] : review.problems;
}
function found(
  contract: ContractJson,
  known?: Parameters<typeof reviewContract>[1],
): readonly (readonly [string, string | undefined])[] {
  return problems(contract, known).map(({ code, path }) => [code, path] as const);
}
function without(contract: ContractJson, ...fields: readonly string[]): ContractJson {
  return Object.fromEntries(Object.entries(contract).filter(([field]) => !fields.includes(field)));
}
/** Known capabilities with contracts that can be looked up. */
function knowing(...contracts: readonly ContractJson[]): Parameters<typeof reviewContract>[1] {
  return {
    has: () => true,
    contractOf: (name): ContractDraft | undefined => contracts.find((each) => each['name'] === name),
  };
}
const verification = refundContract()['verification'] as ContractJson;
const staleCheck = refundContract()['stale_check'] as ContractJson;
const verifiedBy = (success_condition: string): ContractJson =>
  refundContract({ verification: { ...verification, success_condition } });
const args = refundContract()['reversal_args'] as ContractJson;
const reverse = exampleContract('payments.reverse_refund');
const read = exampleContract('payments.get_refund');
/** A reversal of two calls, the second of them changed. */
const ring = exampleContract('till.ring_sale');
const [second] = ring['reversal_then'] as readonly ContractJson[];
const ringWith = (changes: ContractJson): ContractJson => ({ ...ring, reversal_then: [{ ...second, ...changes }] });
const receiptFrom = (source: ContractJson): ContractJson =>
  ringWith({ args: { ...(second?.['args'] as ContractJson), receipt: source } });

/** What is broken, by which contract, and the one problem that must be named. */
type Break = readonly [
  what: string,
  contract: ContractJson,
  code: ContractProblemCode,
  path: string,
  known?: Parameters<typeof reviewContract>[1],
];

const BREAKS: readonly Break[] = [
  [
    'more than a record holds',
    { ...mail, args_schema: { type: 'object', description: 'x'.repeat(BODY_BYTES_MAX) } },
    'CONTRACT_TOO_LARGE',
    '',
  ],
  ['text that no database stores', { ...mail, effect: 'a\0b' }, 'CONTRACT_TEXT_NOT_STORABLE', ''],
  ['an unknown field', { ...mail, reversable: true }, 'CONTRACT_FIELD_UNKNOWN', '/reversable'],
  [
    'an unknown field inside',
    refundContract({ verification: { ...verification, retries: 2 } }),
    'CONTRACT_FIELD_UNKNOWN',
    '/verification/retries',
  ],
  ['no owner', without(mail, 'owner'), 'CONTRACT_FIELD_MISSING', '/owner'],
  [
    'an approval mode there is not (A7)',
    { ...mail, approval_mode: 'yolo' },
    'CONTRACT_FIELD_INVALID',
    '/approval_mode',
  ],
  ['an impact there is not (C2)', { ...mail, impact: 'small' }, 'CONTRACT_FIELD_INVALID', '/impact'],
  ['an empty effect (C1)', { ...mail, effect: ' ' }, 'CONTRACT_FIELD_INVALID', '/effect'],
  [
    'a class that is a yes or no (B7)',
    refundContract({ reversal_class: true }),
    'CONTRACT_FIELD_INVALID',
    '/reversal_class',
  ],
  [
    'a class there is not (B7)',
    refundContract({ reversal_class: 'undoable' }),
    'CONTRACT_FIELD_INVALID',
    '/reversal_class',
  ],
  [
    'a reversal argument that is code (B16)',
    refundContract({ reversal_args: { ...args, reason: { from: 'code', code: 'args.reason.trim()' } } }),
    'CONTRACT_FIELD_INVALID',
    '/reversal_args/reason/from',
  ],
  [
    'a reversal argument that computes beside its source (B16)',
    refundContract({ reversal_args: { ...args, currency: { from: 'args', path: '/currency', transform: 'upper' } } }),
    'CONTRACT_FIELD_UNKNOWN',
    '/reversal_args/currency/transform',
  ],
  [
    'a compensation mode without reason (C8)',
    refundContract({ compensation_mode: { mode: 'approval_required', reason: '' } }),
    'CONTRACT_FIELD_INVALID',
    '/compensation_mode/reason',
  ],
  [
    'a capability that is not adapter.verb_noun (C17)',
    { ...mail, name: 'sendMail' },
    'CAPABILITY_NAME_INVALID',
    '/name',
  ],
  [
    'a reversal in free text (C17)',
    refundContract({ compensation_capability: 'please take it back' }),
    'CAPABILITY_NAME_INVALID',
    '/compensation_capability',
  ],
  ['a draft (D6)', { ...mail, draft: 'openapi' }, 'CONTRACT_IS_DRAFT', '/draft'],
  [
    'an action that says nothing (C17)',
    refundContract({ compensation_capability: 'payments.undo_that' }),
    'ACTION_NOT_PRECISE',
    '/compensation_capability',
  ],
  ['no result schema (A21)', without(mail, 'result_schema'), 'SCHEMA_MISSING', '/result_schema'],
  [
    'arguments that are no object (A21)',
    { ...mail, args_schema: { type: 'string' } },
    'SCHEMA_INVALID',
    '/args_schema/type',
  ],
  [
    'a schema reference that leads nowhere (A21)',
    { ...mail, result_schema: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } },
    'SCHEMA_INVALID',
    '/result_schema',
  ],
  [
    'a schema by which nothing can be judged (A21)',
    { ...mail, result_schema: { type: 'object', minPropertys: 1 } },
    'SCHEMA_INVALID',
    '/result_schema',
  ],
  [
    'a required argument nobody declares (A21)',
    { ...mail, args_schema: { type: 'object', properties: {}, required: ['to'], additionalProperties: false } },
    'SCHEMA_INVALID',
    '/args_schema/required',
  ],
  [
    'a write that is approved as a read (A7)',
    { ...mail, approval_mode: 'read_only' },
    'APPROVAL_MODE_CONTRADICTORY',
    '/approval_mode',
  ],
  [
    'a read that is approved as destruction (A7)',
    { ...mail, impact: 'read', approval_mode: 'destructive' },
    'APPROVAL_MODE_CONTRADICTORY',
    '/approval_mode',
  ],
  [
    'a read with a compensation (A8)',
    { ...read, compensation_capability: 'payments.reverse_refund' },
    'READ_WITH_REVERSAL',
    '/compensation_capability',
  ],
  ['a compensable read (A8)', { ...read, reversal_class: 'compensable' }, 'READ_WITH_REVERSAL', '/reversal_class'],
  ['side effects without class (A22)', without(mail, 'reversal_class'), 'REVERSAL_CLASS_MISSING', '/reversal_class'],
  [
    'a compensable effect that names no compensation (C5)',
    refundContract({ compensation_capability: undefined }),
    'REVERSAL_CAPABILITY_MISSING',
    '/compensation_capability',
  ],
  [
    'an irreversible effect that names a compensation (A15)',
    { ...mail, compensation_capability: 'mail.send_note' },
    'REVERSAL_CAPABILITY_CONTRADICTORY',
    '/compensation_capability',
  ],
  [
    'a reversible effect that names a compensation too (A13)',
    { ...label, compensation_capability: 'crm.drop_label' },
    'REVERSAL_CAPABILITY_CONTRADICTORY',
    '/compensation_capability',
  ],
  [
    'a reversal without arguments (A32)',
    refundContract({ reversal_args: {} }),
    'REVERSAL_ARGS_MISSING',
    '/reversal_args',
  ],
  [
    'a reversal argument its schema lacks (A32)',
    refundContract({ reversal_args: { refund_id: { from: 'result', path: '/id' } } }),
    'REVERSAL_ARG_UNREADABLE',
    '/reversal_args/refund_id/path',
  ],
  [
    'a reversal argument from a handle nobody must keep',
    { ...label, reversal_args: { id: { from: 'external_ref' }, label: { from: 'prior_value' } } },
    'REVERSAL_ARG_UNREADABLE',
    '/reversal_args/id',
  ],
  [
    'a reversal argument that is not mapped (C30)',
    refundContract({ reversal_args: without(args, 'refund_id') }),
    'REVERSAL_ARG_LACKING',
    '/reversal_args/refund_id',
    knowing(reverse),
  ],
  [
    'a reversal argument that nobody takes',
    refundContract({ reversal_args: { ...args, colour: { from: 'constant', value: 'red' } } }),
    'REVERSAL_ARG_UNWANTED',
    '/reversal_args/colour',
    knowing(reverse),
  ],
  [
    'a compensation that only reads (A14)',
    refundContract({ compensation_capability: 'payments.read_ledger' }),
    'REVERSAL_READS_ONLY',
    '/compensation_capability',
    knowing({ ...read, name: 'payments.read_ledger', args_schema: { type: 'object' } }),
  ],
  [
    'further calls with no first one',
    {
      ...mail,
      reversal_then: [
        { ...second, args: { sale: { from: 'constant', value: 's' } }, verification: ring['verification'] },
      ],
    },
    'REVERSAL_CAPABILITY_CONTRADICTORY',
    '/reversal_then',
  ],
  [
    'a further call of another adapter',
    ringWith({ capability: 'safe.reset_drawer' }),
    'REVERSAL_ADAPTER_FOREIGN',
    '/reversal_then/0/capability',
  ],
  [
    'a further call that nobody registered (A22)',
    ring,
    'CAPABILITY_UNKNOWN',
    '/reversal_then/0/capability',
    { has: (name) => name !== 'till.reset_drawer' },
  ],
  [
    'a further call that takes from one that does not come before it',
    receiptFrom({ from: 'call', call: 2, path: '/counted_to' }),
    'REVERSAL_ARG_UNREADABLE',
    '/reversal_then/0/args/receipt',
  ],
  [
    'a further call that takes what the verification of an earlier one does not see',
    receiptFrom({ from: 'call', call: 1, path: '/colour' }),
    'REVERSAL_ARG_UNREADABLE',
    '/reversal_then/0/args/receipt',
    knowing(exampleContract('till.get_sale')),
  ],
  [
    'a further call that lacks an argument',
    ringWith({
      args: { receipt: { from: 'call', call: 1, path: '/void_receipt' } },
      verification: { ...(second?.['verification'] as ContractJson), success_condition: 'observed.drawer == "d"' },
    }),
    'REVERSAL_ARG_LACKING',
    '/reversal_then/0/args/drawer',
    knowing(exampleContract('till.reset_drawer')),
  ],
  [
    'a further call that vouches for the first (A27)',
    ringWith({ verification: { ...(second?.['verification'] as ContractJson), verify_capability: 'till.void_sale' } }),
    'VERIFICATION_BY_ACTOR',
    '/reversal_then/0/verification/verify_capability',
  ],
  [
    'a further call without verification (A27)',
    ringWith({ verification: undefined }),
    'VERIFICATION_INVALID',
    '/reversal_then/0/verification',
  ],
  [
    'more calls than one lease holds',
    { ...ring, reversal_then: Array.from({ length: 8 }, () => second) },
    'CONTRACT_FIELD_INVALID',
    '/reversal_then',
  ],
  [
    'a window in which not all calls fit (P6)',
    { ...ring, reversal_window_ms: 6_000 },
    'WINDOW_TOO_SHORT',
    '/reversal_window_ms',
  ],
  [
    'a compensation without window (A25)',
    refundContract({ reversal_window_ms: undefined }),
    'REVERSAL_WINDOW_MISSING',
    '/reversal_window_ms',
  ],
  [
    'a window in which no call fits (P6)',
    refundContract({ reversal_window_ms: 4_000 }),
    'WINDOW_TOO_SHORT',
    '/reversal_window_ms',
  ],
  [
    'an expiry in which no call fits (P6)',
    refundContract({ expires_after_commit_ms: 4_000 }),
    'WINDOW_TOO_SHORT',
    '/expires_after_commit_ms',
  ],
  [
    'an overwrite that its verb tells and its contract does not (A9)',
    { ...mail, name: 'crm.replace_record' },
    'OVERWRITE_UNDECLARED',
    '/overwrites',
  ],
  [
    'an overwrite that its result tells and its contract does not (A9)',
    { ...mail, result_schema: { type: 'object', properties: { previousValue: {} } } },
    'OVERWRITE_UNDECLARED',
    '/overwrites',
  ],
  [
    'an overwrite that its arguments tell and its contract does not (A9)',
    { ...mail, args_schema: { type: 'object', properties: { if_match: { type: 'string' } } } },
    'OVERWRITE_UNDECLARED',
    '/overwrites',
  ],
  [
    'an overwrite whose reversal takes the prior value, and whose contract says it is none (A9)',
    { ...label, overwrites: undefined, name: 'crm.tag_record' },
    'OVERWRITE_UNDECLARED',
    '/overwrites',
  ],
  [
    'an overwrite as reversible without prior value (A9)',
    {
      ...label,
      requires_prior_value_capture: undefined,
      reversal_args: { id: { from: 'args', path: '/id' }, label: { from: 'args', path: '/label' } },
    },
    'OVERWRITE_WITHOUT_PRIOR_VALUE',
    '/requires_prior_value_capture',
  ],
  [
    'a deletion that keeps nothing (A54, A92)',
    refundContract({ impact: 'destructive' }),
    'DESTRUCTIVE_WITHOUT_COPY',
    '/techniques/tombstone_ttl_ms',
  ],
  [
    'a compensable payment without handle (A11)',
    refundContract({
      requires_external_handle: undefined,
      reversal_args: { amount: { from: 'args', path: '/amount_minor' } },
    }),
    'FINANCIAL_WITHOUT_EXTERNAL_HANDLE',
    '/requires_external_handle',
  ],
  [
    'a compensation without cost bound (A5)',
    refundContract({ recovery_cost: undefined }),
    'RECOVERY_COST_MISSING',
    '/recovery_cost',
  ],
  ['a compensation without residue (A12)', refundContract({ residue: undefined }), 'RESIDUE_MISSING', '/residue'],
  [
    'a compensation nobody observes (A27)',
    refundContract({ verification: undefined }),
    'VERIFICATION_MISSING',
    '/verification',
  ],
  [
    'a verification that never tries (A27)',
    refundContract({ verification: { ...verification, max_attempts: 0 } }),
    'VERIFICATION_INVALID',
    '/verification/max_attempts',
  ],
  [
    'a verification by the acting capability (A27)',
    refundContract({ verification: { ...verification, verify_capability: 'payments.issue_refund' } }),
    'VERIFICATION_BY_ACTOR',
    '/verification/verify_capability',
  ],
  [
    'a verification by the compensating capability (A27)',
    refundContract({ verification: { ...verification, verify_capability: 'payments.reverse_refund' } }),
    'VERIFICATION_BY_ACTOR',
    '/verification/verify_capability',
  ],
  [
    'a verification by what always holds (A27)',
    verifiedBy('true'),
    'VERIFICATION_PROVES_NOTHING',
    '/verification/success_condition',
  ],
  [
    'a verification by what was bound alone (A27)',
    verifiedBy('bound.args.refund_id == bound.external_ref'),
    'VERIFICATION_PROVES_NOTHING',
    '/verification/success_condition',
  ],
  [
    'a verification that has a way out (A27)',
    verifiedBy('true || observed.status == "reversed"'),
    'VERIFICATION_PROVES_NOTHING',
    '/verification/success_condition',
  ],
  [
    'a verification that compares a member with itself (A27)',
    verifiedBy('observed.status == observed.status'),
    'VERIFICATION_PROVES_NOTHING',
    '/verification/success_condition',
  ],
  [
    'a further call that is verified by what always holds (A27)',
    ringWith({ verification: { ...(second?.['verification'] as ContractJson), success_condition: 'true' } }),
    'VERIFICATION_PROVES_NOTHING',
    '/reversal_then/0/verification/success_condition',
  ],
  [
    'a verification by what the stale check asks, written otherwise (A27)',
    refundContract({
      stale_check: { ...staleCheck, condition: 'observed.status == "settled" && observed.amount_minor == 5' },
      verification: { ...verification, success_condition: '5==observed.amount_minor&&(observed.status=="settled")' },
    }),
    'VERIFICATION_PROVES_NOTHING',
    '/verification/success_condition',
  ],
  [
    'a verification by a part of what the stale check asks (A27)',
    refundContract({
      stale_check: { ...staleCheck, condition: 'observed.status == "settled" && observed.amount_minor == 5' },
      verification: { ...verification, success_condition: 'observed.amount_minor == 5' },
    }),
    'VERIFICATION_PROVES_NOTHING',
    '/verification/success_condition',
  ],
  [
    'a restored value that nobody compared first (P7)',
    without(label, 'stale_check'),
    'STALE_CHECK_MISSING',
    '/stale_check',
  ],
  [
    'a compensation that looks at nothing, and says nothing (C51)',
    without(refundContract(), 'stale_check'),
    'STALE_CHECK_MISSING',
    '/stale_check',
  ],
  [
    'a restored value that is said to need no look (P7)',
    { ...without(label, 'stale_check'), unchecked_because: 'nobody else writes labels' },
    'STALE_CHECK_MISSING',
    '/stale_check',
  ],
  [
    'a check, and a reason why there is none (C51)',
    refundContract({ unchecked_because: 'nobody else can change it' }),
    'STALE_CHECK_CONTRADICTORY',
    '/unchecked_because',
  ],
  [
    'a check of a version that reads nothing (C52)',
    refundContract({ stale_check: { ...staleCheck, compares: 'version', condition: 'true' } }),
    'STALE_CHECK_COMPARES_NOTHING',
    '/stale_check/condition',
  ],
  [
    'a check of a version against a word (C52)',
    refundContract({ stale_check: { ...staleCheck, compares: 'version', condition: 'observed.status == "settled"' } }),
    'STALE_CHECK_COMPARES_NOTHING',
    '/stale_check/condition',
  ],
  [
    'a check of a version that observes nothing (C52)',
    refundContract({
      stale_check: { ...staleCheck, compares: 'version', condition: 'bound.args.refund_id == "re_1"' },
    }),
    'STALE_CHECK_COMPARES_NOTHING',
    '/stale_check/condition',
  ],
  [
    'a check whose gap is not stated (P7)',
    refundContract({ stale_check: without(staleCheck, 'check_act_gap') }),
    'CHECK_ACT_GAP_MISSING',
    '/stale_check/check_act_gap',
  ],
  [
    'an observer with side effects (A27)',
    refundContract({ reconcile_capability: 'payments.reverse_refund' }),
    'OBSERVER_ACTS',
    '/reconcile_capability',
    knowing(reverse),
  ],
  [
    'an effect that reconciles itself (C4)',
    refundContract({ reconcile_capability: 'payments.issue_refund' }),
    'OBSERVER_ACTS',
    '/reconcile_capability',
  ],
  [
    'an ungated irreversible effect (A100)',
    without(mail, 'forward_approval'),
    'IRREVERSIBLE_UNGATED',
    '/forward_approval',
  ],
  [
    'an ungated destruction for good (A10)',
    { ...without(mail, 'forward_approval'), impact: 'destructive', approval_mode: 'destructive' },
    'IRREVERSIBLE_UNGATED',
    '/forward_approval',
  ],
  [
    'an irreversible effect gated by policy alone (A100)',
    { ...mail, forward_approval: 'policy' },
    'IRREVERSIBLE_UNGATED',
    '/forward_approval',
  ],
  [
    'a hold that is over before anybody can cancel (A100)',
    { ...without(mail, 'forward_approval'), commit_hold_ms: 1, cancel_capability: 'mail.drop_message' },
    'HOLD_TOO_SHORT',
    '/commit_hold_ms',
  ],
  [
    'a hold just below the floor (A100)',
    {
      ...without(mail, 'forward_approval'),
      commit_hold_ms: HOLD_MIN_MS - 1,
      cancel_capability: 'mail.drop_message',
    },
    'HOLD_TOO_SHORT',
    '/commit_hold_ms',
  ],
  ['a hold nothing cancels (A24)', { ...mail, commit_hold_ms: 10_000 }, 'HOLD_WITHOUT_CANCEL', '/cancel_capability'],
  [
    'a hold that would cancel itself (A24)',
    { ...mail, commit_hold_ms: 10_000, cancel_capability: mail['name'] },
    'HOLD_WITHOUT_CANCEL',
    '/cancel_capability',
  ],
  [
    'a cancellation without hold (A24)',
    { ...mail, cancel_capability: 'mail.drop_message' },
    'CANCEL_WITHOUT_HOLD',
    '/cancel_capability',
  ],
  [
    'a filing that no person approves (A82)',
    refundContract({ consequence: { regulatory: '1' } }),
    'REGULATORY_UNGATED',
    '/forward_approval',
  ],
  [
    'automatic recovery of money (A30)',
    refundContract({ recovery_approval_mode: 'auto', compensation_mode: { mode: 'automatic', reason: 'r' } }),
    'AUTO_RECOVERY_FORBIDDEN',
    '/recovery_approval_mode',
  ],
  [
    'an effect that does not say how it is compensated (C7, C8)',
    without(label, 'compensation_mode'),
    'COMPENSATION_MODE_MISSING',
    '/compensation_mode',
  ],
  [
    'a cost that nobody accepted by leaving it unsaid (C14)',
    without(mail, 'compensation_mode'),
    'COMPENSATION_MODE_MISSING',
    '/compensation_mode',
  ],
  [
    'a mode that does not go with its approval (C7)',
    { ...label, recovery_approval_mode: 'human', compensation_mode: { mode: 'automatic', reason: 'r' } },
    'COMPENSATION_MODE_CONTRADICTORY',
    '/compensation_mode/mode',
  ],
  [
    'a mode that does not go with its class (C7)',
    { ...mail, compensation_mode: { mode: 'approval_required', reason: 'r' } },
    'COMPENSATION_MODE_CONTRADICTORY',
    '/compensation_mode/mode',
  ],
  [
    'a cost nobody accepted (C14)',
    { ...mail, compensation_mode: { mode: 'not_supported', reason: 'r' } },
    'NOT_SUPPORTED_UNACCEPTED',
    '/compensation_mode/accepted_by',
  ],
  [
    'a runbook that is not named (C7)',
    { ...mail, compensation_mode: { mode: 'manual_runbook', reason: 'r' } },
    'RUNBOOK_MISSING',
    '/compensation_mode/runbook',
  ],
  ['no word on repeated calls (C3)', without(mail, 'idempotency'), 'IDEMPOTENCY_MISSING', '/idempotency'],
  [
    'a condition that does not compile',
    refundContract({ verification: { ...verification, success_condition: 'observed.status ==' } }),
    'CEL_INVALID',
    '/verification/success_condition',
  ],
  [
    'a condition over a name there is not',
    refundContract({ verification: { ...verification, success_condition: 'result.status == "x"' } }),
    'CEL_INVALID',
    '/verification/success_condition',
  ],
  [
    'a condition that calls a function there is not',
    refundContract({ verification: { ...verification, success_condition: 'fetch(observed.url)' } }),
    'CEL_INVALID',
    '/verification/success_condition',
  ],
  [
    'a condition that loops over lists within lists within lists',
    refundContract({
      verification: {
        ...verification,
        success_condition: 'observed.a.all(a, observed.b.all(b, observed.c.exists(c, c == a + b)))',
      },
    }),
    'CEL_TOO_COSTLY',
    '/verification/success_condition',
  ],
  [
    'a condition over what nobody observes',
    refundContract({ verification: { ...verification, success_condition: 'observed.state == "reversed"' } }),
    'CEL_UNREADABLE',
    '/verification/success_condition',
    knowing(read),
  ],
  [
    'a condition over an argument that is not bound',
    refundContract({ verification: { ...verification, success_condition: 'observed.status == bound.args.status' } }),
    'CEL_UNREADABLE',
    '/verification/success_condition',
  ],
  [
    'a value that args_schema lacks',
    refundContract({ value: { amount: '/total', currency: 'INR' } }),
    'VALUE_UNREADABLE',
    '/value/amount',
  ],
  ['a cap that counts nothing (A28)', refundContract({ value: undefined }), 'CAP_UNMEASURABLE', '/value'],
  [
    'a cap on subjects that counts none (A56)',
    refundContract({ subject: undefined, blast_radius: { max_subjects_per_run: 1, scope: 'single_subject' } }),
    'CAP_UNMEASURABLE',
    '/subject',
  ],
  [
    'a cap in another currency (A28)',
    refundContract({ value: { amount: '/amount_minor', currency: 'EUR' } }),
    'CURRENCY_CONTRADICTORY',
    '/blast_radius/max_value_per_run/currency',
  ],
  [
    'a capability without contract (A22)',
    refundContract({ reconcile_capability: 'payments.find_refund' }),
    'CAPABILITY_UNKNOWN',
    '/reconcile_capability',
    { has: (name) => name !== 'payments.find_refund' },
  ],
  [
    'a debt weight that lowers (A77)',
    refundContract({ debt_weight: 0.05 }),
    'DEBT_WEIGHT_CONTRADICTORY',
    '/debt_weight',
  ],
  [
    'a tombstone shorter than the window (A54)',
    refundContract({ techniques: { tombstone_ttl_ms: 10 } }),
    'TOMBSTONE_SHORTER_THAN_WINDOW',
    '/techniques/tombstone_ttl_ms',
  ],
  [
    'a hold that is only claimed (A50)',
    { ...mail, techniques: { hold: true } },
    'TECHNIQUE_CONTRADICTORY',
    '/techniques/hold',
  ],
  [
    'a reservation that is only claimed (A51)',
    { ...mail, techniques: { reservation: true } },
    'TECHNIQUE_CONTRADICTORY',
    '/techniques/reservation',
  ],
  [
    'a capture that is only claimed (A55)',
    refundContract({ techniques: { prior_value_capture: true } }),
    'TECHNIQUE_CONTRADICTORY',
    '/techniques/prior_value_capture',
  ],
];

describe('a contract that is well', () => {
  it.each(['payments.issue_refund', 'payments.reverse_refund', 'payments.get_refund'])('%s registers', (name) => {
    expect(found(exampleContract(name), knowing(reverse, read))).toEqual([]);
  });

  it.each([
    ['an overwrite with its prior value', label],
    ['an irreversible effect behind a person', mail],
  ])('%s registers', (_, contract) => {
    expect(problems(contract)).toEqual([]);
  });

  it.each([
    ['integer', { type: 'integer', minimum: 1 }],
    ['["integer"]', { type: ['integer'], minimum: 1 }],
    ['allOf', { allOf: [{ type: ['integer'] }, { minimum: 1 }] }],
    ['$ref', { $ref: '#/$defs/minor' }],
  ])('reads an amount whose schema says that it is whole by %s', (_how, amount_minor) => {
    const { properties, ...schema } = refundContract()['args_schema'] as { readonly properties: object };
    expect(
      found(
        refundContract({
          args_schema: {
            ...schema,
            type: ['object'],
            $defs: { minor: { type: ['integer'] } },
            properties: { ...properties, amount_minor },
          },
        }),
      ),
    ).toEqual([]);
  });

  const CLASSED: Readonly<Record<(typeof REVERSAL_CLASSES)[number], ContractJson>> = {
    reversible: label,
    compensable: refundContract(),
    irreversible: mail,
  };
  const PAIRS = REVERSAL_CLASSES.flatMap((reversalClass) =>
    APPROVAL_MODES.filter((mode) => mode !== 'read_only').map((mode) => [reversalClass, mode] as const),
  );
  it.each(PAIRS)(
    'registers as %s under approval mode %s: neither follows from the other (A6)',
    (reversalClass, approval_mode) => {
      expect(found({ ...CLASSED[reversalClass], approval_mode })).toEqual([]);
    },
  );

  it.each(['reversible', 'irreversible'])('may read only and be %s', (reversal_class) => {
    expect(found({ ...read, reversal_class, consequence: { exposure: '1' } })).toEqual([]);
  });

  it('may take an argument from an earlier compensation', () => {
    expect(
      found(
        refundContract({
          reversal_args: { ...args, reason: { from: 'step', capability: 'travel.book_trip', path: '/fee' } },
        }),
      ),
    ).toEqual([]);
  });

  it('may ask for a member that need not be there', () => {
    expect(
      found(
        refundContract({ verification: { ...verification, success_condition: 'has(observed.closed_at)' } }),
        knowing(reverse, read),
      ),
    ).toEqual([]);
  });

  it('may be verified by words of its stale check, where somebody else looks, or a later call is meant', () => {
    const condition = 'observed.status == "settled"';
    const { observe_capability: looks, ...check } = staleCheck;
    expect(looks).toBe(verification['verify_capability']);
    const apart = { ...check, observe_capability: 'orders.get_order', condition };
    expect(found({ ...verifiedBy(condition), stale_check: apart })).toEqual([]);
    const { verify_capability: counts } = second?.['verification'] as ContractJson;
    const drawer = 'observed.drawer == "closed"';
    const later = { verify_capability: counts, success_condition: drawer, max_attempts: 1 };
    const before = { ...check, observe_capability: counts, compares: 'status', condition: drawer };
    expect(found({ ...ringWith({ verification: later }), stale_check: before, unchecked_because: undefined })).toEqual(
      [],
    );
  });

  it('has the digest of its canonical JSON, whatever order its fields were written in', () => {
    const one = parseContract(JSON.stringify(Object.fromEntries(Object.entries(refundContract()).reverse())));
    const other = parseContract(JSON.stringify(refundContract(), null, 2));
    if (!one.ok || !other.ok) throw new Error('both parse');
    expect(contractDigest(contractBody(one.contract))).toEqual(contractDigest(contractBody(other.contract)));
  });
});

describe('the refusal of a contract', () => {
  it.each(BREAKS.map(([what, ...broken]) => [what, broken] as const))(
    'names %s',
    (_, [contract, code, path, known]) => {
      expect(found(contract, known)).toEqual([[code, path]]);
    },
  );

  it('has been seen for every code there is', () => {
    const seen: ReadonlySet<string> = new Set([
      'CONTRACT_NOT_JSON',
      // Two contracts show it, not one: apps/contract-registry/src/contracts.tenants.unit.spec.ts.
      'CONTRACT_LOOSER_THAN_PLATFORM',
      ...BREAKS.map(([, , code]) => code),
    ]);
    expect(Object.keys(CONTRACT_REMEDIES).filter((code) => !seen.has(code))).toEqual([]);
    expect(CONTRACT_RULES.map(({ code }) => code).sort()).toEqual(
      [...new Set(CONTRACT_RULES.map(({ code }) => code))].sort(),
    );
  });

  it('says nothing of a compensation that is the capability itself, with the prior value', () => {
    const own = exampleContract('tickets.set_status');
    expect(own['compensation_capability']).toBe(own['name']);
    expect(found(own, knowing(exampleContract('tickets.get_ticket')))).toEqual([]);
    expect(found({ ...own, reversal_args: { status: { from: 'prior_value', path: '/status' } } })).toEqual([
      ['REVERSAL_ARG_LACKING', '/reversal_args/ticket'],
      ['CEL_UNREADABLE', '/stale_check/condition'],
    ]);
  });

  it('lists everything at once, of shape and of meaning', () => {
    const codes = found(
      refundContract({
        name: 'refund',
        colour: 'red',
        residue: undefined,
        recovery_approval_mode: 'auto',
        requires_external_handle: undefined,
      }),
    ).map(([code]) => code);
    expect(codes).toEqual(
      expect.arrayContaining([
        'CAPABILITY_NAME_INVALID',
        'CONTRACT_FIELD_UNKNOWN',
        'RESIDUE_MISSING',
        'AUTO_RECOVERY_FORBIDDEN',
        'FINANCIAL_WITHOUT_EXTERNAL_HANDLE',
        'REVERSAL_ARG_UNREADABLE',
        'COMPENSATION_MODE_CONTRADICTORY',
      ]),
    );
  });

  it.each<[string, ContractJson, boolean]>([
    ['an impact that takes a person', { impact: 'destructive' }, true],
    ['two people before it', { forward_approval: 'dual_control' }, true],
    ['a consequence in law', { consequence: { regulatory: '1' } }, true],
    ['one person before it, as most that undo have', { forward_approval: 'human' }, false],
  ])('lets no undo go by itself that calls what has %s (A30)', (_, more, isForbidden) => {
    const last = 'labels.delete_repository';
    const called = { ...label, name: last, args_schema: { type: 'object' }, ...more };
    const known = knowing(called, ...['labels.get_labels', 'labels.remove_label'].map(exampleContract));
    const adding = exampleContract('labels.add_label');
    const observed = { ...(adding['verification'] as ContractJson), success_condition: 'observed.version > 0' };
    const then = { capability: last, args: { repo: { from: 'constant', value: 'all' } }, verification: observed };
    const wanted = isForbidden ? [['AUTO_RECOVERY_FORBIDDEN', '/recovery_approval_mode']] : [];
    expect(found({ ...adding, reversal_then: [then] }, known)).toEqual(wanted);
    expect(found({ ...adding, reversal_then: [then], ...BY_PEOPLE }, known)).toEqual([]);
  });

  it('names capabilities without a contract of their own', () => {
    const known = { has: (name: string) => name === 'payments.get_refund' };
    expect(found(refundContract(), known)).toEqual([['CAPABILITY_UNKNOWN', '/compensation_capability']]);
  });

  it('carries its remedy', () => {
    for (const each of problems({ name: 'x' })) {
      expect(each.message.endsWith(CONTRACT_REMEDIES[each.code])).toBe(true);
      expect(each.facts?.['remedy']).toBe(CONTRACT_REMEDIES[each.code]);
    }
  });

  it.each(['', '[]', 'null', '{"a":'])('of %j says that it is not JSON', (body) => {
    const review = reviewContract(body, EVERYTHING);
    expect(review.ok ? [] : review.problems.map((each) => each.code)).toEqual(['CONTRACT_NOT_JSON']);
  });

  it('takes text that only spells out what cannot be stored', () => {
    expect(found({ ...mail, args_schema: { type: 'object', title: '\\u0000 spelled out' } })).toEqual([]);
  });
});
