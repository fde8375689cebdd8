// Rules of governance: who decides before the effect and before its reversal, and what is capped.
import type { Json } from '@recourse/kernel';
import { hasSideEffects, isUndoable, takesPeople, reversalCallsOf } from '../class.js';
import { isInteger, schemaAt } from '../json-pointer.js';
import type { ContractDraft } from '../shape.js';
import { targetOf } from './reversal.rules.js';
import { when } from './rule.js';
import type { Rule } from './rule.js';

/** Impacts whose undoing always takes a person. */
export const HUMAN_IMPACTS: readonly string[] = ['financial', 'destructive', 'security_sensitive'];

/**
 * Shortest hold, milliseconds: the shortest time in which mail programs let people take a message back. A kill switch
 * needs a second to arrive (PROPAGATION_P99_MS), and somebody has to see the effect first; a shorter hold holds nothing.
 */
export const HOLD_MIN_MS = 5_000;

export const GOVERNANCE_RULES: readonly Rule[] = [
  {
    code: 'IRREVERSIBLE_UNGATED',
    ids: ['A10', 'A15', 'A100'],
    find: (contract) => [
      when(
        contract.reversal_class === 'irreversible' &&
          hasSideEffects(contract) &&
          !isGated(contract) &&
          !(isHeld(contract) && contract.cancel_capability !== undefined),
        '/forward_approval',
        'an irreversible effect has neither a hold that can be cancelled nor a person before it',
      ),
    ],
  },
  {
    code: 'HOLD_TOO_SHORT',
    ids: ['A10', 'A100'],
    find: (contract) => [
      when(
        isHeld(contract) && hasSideEffects(contract) && (contract.commit_hold_ms ?? 0) < HOLD_MIN_MS,
        '/commit_hold_ms',
        `within ${contract.commit_hold_ms ?? 0} ms nobody cancels`,
      ),
    ],
  },
  {
    code: 'HOLD_WITHOUT_CANCEL',
    ids: ['A24'],
    find: (contract) => [
      when(
        isHeld(contract) && hasSideEffects(contract) && contract.cancel_capability === undefined,
        '/cancel_capability',
        'a hold that nothing can cancel holds nothing',
      ),
      when(
        contract.cancel_capability !== undefined && contract.cancel_capability === contract.name,
        '/cancel_capability',
        'the effect would cancel itself',
      ),
    ],
  },
  {
    code: 'CANCEL_WITHOUT_HOLD',
    ids: ['A24'],
    find: (contract) => [
      when(
        contract.cancel_capability !== undefined && hasSideEffects(contract) && !isHeld(contract),
        '/cancel_capability',
        'there is no hold in which anything could be cancelled',
      ),
    ],
  },
  {
    code: 'REGULATORY_UNGATED',
    ids: ['A82'],
    find: (contract) => [
      when(
        contract.consequence?.regulatory !== undefined && !isGated(contract),
        '/forward_approval',
        'a regulatory consequence has no person before it',
      ),
    ],
  },
  {
    code: 'AUTO_RECOVERY_FORBIDDEN',
    ids: ['A30', 'D27'],
    find: (contract, known) => {
      const { recovery_approval_mode, impact = '', consequence } = contract;
      return recovery_approval_mode !== 'auto'
        ? []
        : [
            when(
              HUMAN_IMPACTS.includes(impact),
              '/recovery_approval_mode',
              `recovery of a ${impact} effect is never automatic`,
            ),
            when(
              consequence?.regulatory !== undefined && !HUMAN_IMPACTS.includes(impact),
              '/recovery_approval_mode',
              'recovery of what binds in law is never automatic',
            ),
            ...reversalCallsOf(contract).map((call) => {
              const called = targetOf(contract, call, known);
              return when(
                called !== undefined && called !== contract && takesPeople(called),
                '/recovery_approval_mode',
                `recovery calls ${call.capability ?? ''}, which people agree to: by its impact, its two people or the law`,
              );
            }),
          ];
    },
  },
  {
    code: 'COMPENSATION_MODE_MISSING',
    ids: ['C7', 'C8', 'C14'],
    find: (contract) => [
      when(
        hasSideEffects(contract) && contract.compensation_mode === undefined,
        '/compensation_mode',
        'nobody said how the effect is compensated, and why so',
      ),
    ],
  },
  {
    code: 'COMPENSATION_MODE_CONTRADICTORY',
    ids: ['A23', 'C7'],
    find: (contract) => {
      const mode = contract.compensation_mode?.mode;
      const approval = contract.recovery_approval_mode ?? 'human';
      const clash =
        (mode === 'automatic' && approval !== 'auto') || (mode === 'approval_required' && approval === 'auto');
      const isMachine = mode === 'automatic' || mode === 'approval_required';
      return [
        when(clash, '/compensation_mode/mode', `${mode ?? ''} does not go with ${approval}`),
        when(
          isMachine && contract.reversal_class === 'irreversible',
          '/compensation_mode/mode',
          `${mode ?? ''} does not go with irreversible`,
        ),
        when(
          mode === 'not_supported' && isUndoable(contract),
          '/compensation_mode/mode',
          `not_supported does not go with ${contract.reversal_class ?? ''}`,
        ),
      ];
    },
  },
  {
    code: 'NOT_SUPPORTED_UNACCEPTED',
    ids: ['C14'],
    find: ({ compensation_mode }) => [
      when(
        compensation_mode?.mode === 'not_supported' && compensation_mode.accepted_by === undefined,
        '/compensation_mode/accepted_by',
        'nobody accepted that nothing undoes this',
      ),
    ],
  },
  {
    code: 'RUNBOOK_MISSING',
    ids: ['C7'],
    find: ({ compensation_mode }) => [
      when(
        compensation_mode?.mode === 'manual_runbook' && compensation_mode.runbook === undefined,
        '/compensation_mode/runbook',
        'a person is to work from a runbook, and none is named',
      ),
    ],
  },
  {
    code: 'VALUE_UNREADABLE',
    ids: ['A75', 'D4'],
    find: (contract) => {
      const schema = contract.args_schema as Json | undefined; // it came in as JSON
      if (schema === undefined) return [];
      const amount = contract.value === undefined ? undefined : schemaAt(schema, contract.value.amount);
      const currency = contract.value?.currency;
      return [
        when(
          contract.value !== undefined && (amount === undefined || !isInteger(amount, schema)),
          '/value/amount',
          'args_schema declares no integer there',
        ),
        when(
          currency?.startsWith('/') === true && schemaAt(schema, currency) === undefined,
          '/value/currency',
          'args_schema declares nothing there',
        ),
        when(
          contract.subject !== undefined && schemaAt(schema, contract.subject) === undefined,
          '/subject',
          'args_schema declares nothing there',
        ),
      ];
    },
  },
  {
    code: 'CAP_UNMEASURABLE',
    ids: ['A28', 'A56'],
    find: ({ blast_radius, value, subject }) => [
      when(
        blast_radius?.max_value_per_run !== undefined && value === undefined,
        '/value',
        'a cap on value counts nothing',
      ),
      when(
        blast_radius?.max_subjects_per_run !== undefined && subject === undefined,
        '/subject',
        'a cap on subjects counts nothing',
      ),
    ],
  },
  {
    code: 'CURRENCY_CONTRADICTORY',
    ids: ['A28'],
    find: ({ blast_radius, value }) => {
      const [fixed, cap] = [value?.currency, blast_radius?.max_value_per_run?.currency];
      return [
        when(
          fixed !== undefined && cap !== undefined && !fixed.startsWith('/') && fixed !== cap,
          '/blast_radius/max_value_per_run/currency',
          `values in ${fixed ?? ''} are capped in ${cap ?? ''}`,
        ),
      ];
    },
  },
];

function isHeld(contract: ContractDraft): boolean {
  return (contract.commit_hold_ms ?? 0) > 0;
}

function isGated({ forward_approval }: ContractDraft): boolean {
  return forward_approval === 'human' || forward_approval === 'dual_control';
}
