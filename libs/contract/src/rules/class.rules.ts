// Rules of class and impact: what a capability is, and what that demands.
import { schemaProblem } from '../args.js';
import type { Json } from '@recourse/kernel';
import { CLASS_WEIGHTS, hasSideEffects, isAutomated, isUndoable, reversalCallsOf } from '../class.js';
import { declaredNames, isClosed, pointerOf, requiredNames, typesIn } from '../json-pointer.js';
import type { ContractDraft } from '../shape.js';
import { when } from './rule.js';
import type { Finding, Rule } from './rule.js';

/** Words that name no action: `tickets.undo_that`. */
const VAGUE_ACTION =
  /\.(?:undo|rollback|revert|reverse|fix|repair|compensate|restore|clean)_(?:that|this|it|all|everything|last|action|effect|change|changes|things?)$/;

/** Fields that only side effects need. */
const SIDE_EFFECT_FIELDS = [
  'inverse_capability',
  'compensation_capability',
  'cancel_capability',
  'commit_hold_ms',
  'reversal_args',
  'reversal_then',
  'residue',
  'recovery_cost',
  'stale_check',
  'debt_weight',
] as const;

/** Fields that name what acts. */
const ACTIONS = ['name', 'inverse_capability', 'compensation_capability', 'cancel_capability'] as const;

export const CLASS_RULES: readonly Rule[] = [
  {
    code: 'CONTRACT_IS_DRAFT',
    ids: ['D6'],
    find: ({ draft }) => [when(draft !== undefined, '/draft', 'the contract is a draft')],
  },
  {
    code: 'ACTION_NOT_PRECISE',
    ids: ['C17'],
    find: (contract) =>
      [
        ...ACTIONS.map((field) => [`/${field}`, contract[field] ?? ''] as const),
        ...reversalCallsOf(contract)
          .slice(1)
          .map(({ at, capability }) => [at.capability, capability ?? ''] as const),
      ].map(([path, name]) => when(VAGUE_ACTION.test(name), path, `${name} says neither what it does nor to what`)),
  },
  {
    code: 'SCHEMA_INVALID',
    ids: ['A21'],
    find: (contract) => [
      ...schemaFindings(contract, 'args_schema'),
      ...schemaFindings(contract, 'result_schema'),
      when(
        contract.args_schema !== undefined && !isObjectSchema(contract.args_schema),
        '/args_schema/type',
        'arguments have names, so their schema is that of an object',
      ),
    ],
  },
  {
    code: 'APPROVAL_MODE_CONTRADICTORY',
    ids: ['A6', 'A7'],
    find: ({ impact, approval_mode }) => [
      when(
        approval_mode === 'read_only' && impact !== undefined && impact !== 'read',
        '/approval_mode',
        `an effect of impact ${impact ?? ''} is no read`,
      ),
      when(
        impact === 'read' && (approval_mode === 'local_write' || approval_mode === 'destructive'),
        '/approval_mode',
        `a read is not ${approval_mode ?? ''}`,
      ),
    ],
  },
  {
    code: 'READ_WITH_REVERSAL',
    ids: ['A8'],
    find: (contract) =>
      hasSideEffects(contract)
        ? []
        : [
            ...SIDE_EFFECT_FIELDS.map((field) =>
              when(contract[field] !== undefined, `/${field}`, 'a read has nothing to reverse'),
            ),
            when(contract.reversal_class === 'compensable', '/reversal_class', 'a read has nothing to compensate'),
          ],
  },
  {
    code: 'REVERSAL_CLASS_MISSING',
    ids: ['A22'],
    find: (contract) => [
      when(
        hasSideEffects(contract) && contract.reversal_class === undefined,
        '/reversal_class',
        'the capability has side effects and no reversal class',
      ),
    ],
  },
  {
    code: 'FINANCIAL_WITHOUT_EXTERNAL_HANDLE',
    ids: ['A11', 'A26'],
    find: (contract) => [
      when(
        contract.reversal_class === 'compensable' &&
          contract.impact === 'financial' &&
          contract.requires_external_handle !== true,
        '/requires_external_handle',
        'a financial effect is compensable only by its handle',
      ),
    ],
  },
  {
    code: 'DESTRUCTIVE_WITHOUT_COPY',
    ids: ['A54', 'A92'],
    find: (contract) => [
      when(
        contract.impact === 'destructive' &&
          isAutomated(contract) &&
          contract.techniques?.tombstone_ttl_ms === undefined &&
          contract.requires_prior_value_capture !== true,
        '/techniques/tombstone_ttl_ms',
        'nothing keeps what is destroyed',
      ),
    ],
  },
  {
    code: 'IDEMPOTENCY_MISSING',
    ids: ['C3'],
    find: (contract) => [
      when(
        hasSideEffects(contract) && contract.idempotency === undefined,
        '/idempotency',
        'nothing says how a repeated call is deduplicated',
      ),
    ],
  },
  {
    code: 'RESIDUE_MISSING',
    ids: ['A12'],
    find: (contract) => [
      when(
        isCompensable(contract) && contract.residue === undefined,
        '/residue',
        'a compensation leaves something different',
      ),
    ],
  },
  {
    code: 'RECOVERY_COST_MISSING',
    ids: ['A5'],
    find: (contract) => [
      when(
        isCompensable(contract) && contract.recovery_cost === undefined,
        '/recovery_cost',
        'nothing bounds what the compensation costs',
      ),
    ],
  },
  {
    code: 'DEBT_WEIGHT_CONTRADICTORY',
    ids: ['A77'],
    find: (contract) => [
      when(
        contract.debt_weight !== undefined &&
          hasSideEffects(contract) &&
          (contract.reversal_class !== 'compensable' || contract.debt_weight < CLASS_WEIGHTS.compensable),
        '/debt_weight',
        'this debt_weight does not raise that of a compensable capability',
      ),
    ],
  },
  {
    code: 'TECHNIQUE_CONTRADICTORY',
    ids: ['A50', 'A51', 'A55'],
    find: ({ techniques, commit_hold_ms = 0, cancel_capability, requires_prior_value_capture }) => [
      when(techniques?.hold === true && commit_hold_ms === 0, '/techniques/hold', 'there is no commit_hold_ms'),
      when(
        techniques?.reservation === true && (commit_hold_ms === 0 || cancel_capability === undefined),
        '/techniques/reservation',
        'a reservation is a hold that can be cancelled',
      ),
      when(
        techniques?.prior_value_capture === true && requires_prior_value_capture !== true,
        '/techniques/prior_value_capture',
        'the prior value need not be captured',
      ),
    ],
  },
  {
    code: 'TOMBSTONE_SHORTER_THAN_WINDOW',
    ids: ['A54'],
    find: (contract) => {
      const ttl = contract.techniques?.tombstone_ttl_ms;
      const bounds = [contract.reversal_window_ms, contract.expires_after_commit_ms].filter(
        (bound) => bound !== undefined,
      );
      return [
        when(
          ttl !== undefined && isUndoable(contract) && bounds.length > 0 && ttl < Math.min(...bounds),
          '/techniques/tombstone_ttl_ms',
          'what is deleted is gone before the window closes',
        ),
      ];
    },
  },
];

function isCompensable(contract: ContractDraft): boolean {
  return contract.reversal_class === 'compensable' && hasSideEffects(contract);
}

function schemaFindings(contract: ContractDraft, field: 'args_schema' | 'result_schema'): readonly (Finding | null)[] {
  // Schemas came in as JSON.
  const schema = contract[field] as Json | undefined;
  if (schema === undefined) return [];
  const names = declaredNames(schema) ?? [];
  const unusable = schemaProblem(schema);
  return [
    when(unusable !== null, `/${field}`, `nothing can be judged by it: ${unusable ?? ''}`),
    ...requiredNames(schema).map((name) =>
      when(
        isClosed(schema) && !names.includes(name),
        pointerOf([field, 'required']),
        `${name} is required and not declared`,
      ),
    ),
  ];
}

function isObjectSchema(schema: NonNullable<ContractDraft['args_schema']>): boolean {
  // It came in as JSON.
  return (
    typesIn(schema['type'] as Json | undefined).join() === 'object' ||
    ['$ref', 'allOf', 'anyOf', 'oneOf'].some((name) => schema[name] !== undefined)
  );
}
