// Rules of observation: who looks, at what, and with which condition.
import type { Json } from '@recourse/kernel';
import { hasSideEffects, isAutomated } from '../class.js';
import { conditionProblem, costProblem, readsOf } from '../condition.js';
import { declaredNames, pointerOf } from '../json-pointer.js';
import type { ContractDraft } from '../shape.js';
import { when } from './rule.js';
import type { Finding, KnownCapabilities, Rule } from './rule.js';

/** Comparisons that the tool makes itself while it writes: nothing fits between check and act. */
const CONDITIONAL_WRITES: readonly string[] = ['version', 'etag', 'compare_and_swap'];

/** Capabilities a contract names, with the place where it does; `reads` are those that only look. */
export function capabilitiesNamed(
  contract: ContractDraft,
): readonly { readonly path: string; readonly name: string; readonly reads: boolean }[] {
  const named = [
    ['/inverse_capability', contract.inverse_capability, false],
    ['/compensation_capability', contract.compensation_capability, false],
    ['/cancel_capability', contract.cancel_capability, false],
    ['/reconcile_capability', contract.reconcile_capability, true],
    ['/precondition/observe_capability', contract.precondition?.observe_capability, true],
    ['/stale_check/observe_capability', contract.stale_check?.observe_capability, true],
    ['/verification/verify_capability', contract.verification?.verify_capability, true],
    ['/techniques/dry_run_capability', contract.techniques?.dry_run_capability, true],
  ] as const;
  return named.flatMap(([path, name, reads]) => (name === undefined ? [] : [{ path, name, reads }]));
}

export const OBSERVATION_RULES: readonly Rule[] = [
  {
    code: 'VERIFICATION_MISSING',
    ids: ['A27', 'A65'],
    find: (contract) => [
      when(
        isAutomated(contract) && contract.verification === undefined,
        '/verification',
        'nothing observes that the reversal worked',
      ),
    ],
  },
  {
    code: 'VERIFICATION_BY_ACTOR',
    ids: ['A27', 'A65'],
    find: (contract) => {
      const observer = contract.verification?.verify_capability;
      const actors = [contract.name, contract.inverse_capability, contract.compensation_capability];
      return [
        when(
          observer !== undefined && actors.includes(observer),
          '/verification/verify_capability',
          'the acting capability would vouch for itself',
        ),
      ];
    },
  },
  {
    code: 'STALE_CHECK_MISSING',
    ids: ['P7', 'C51', 'C52'],
    find: (contract) => [
      when(
        isAutomated(contract) && contract.stale_check === undefined && contract.unchecked_because === undefined,
        '/stale_check',
        'nothing is looked at before it is undone, and nothing says why not',
      ),
      when(
        isAutomated(contract) &&
          contract.stale_check === undefined &&
          contract.unchecked_because !== undefined &&
          contract.overwrites === true,
        '/stale_check',
        'restoring would overwrite what somebody else has written since',
      ),
    ],
  },
  {
    code: 'STALE_CHECK_CONTRADICTORY',
    ids: ['C51'],
    find: ({ stale_check, unchecked_because }) => [
      when(
        stale_check !== undefined && unchecked_because !== undefined,
        '/unchecked_because',
        'it is checked, and a reason is given why it is not',
      ),
    ],
  },
  {
    code: 'STALE_CHECK_COMPARES_NOTHING',
    ids: ['C52'],
    find: ({ stale_check: check }) => [
      when(
        check !== undefined && conditionProblem(check.condition, JUDGED) === null && !isCompared(check),
        '/stale_check/condition',
        `the condition compares no ${check?.compares ?? ''}`,
      ),
    ],
  },
  {
    code: 'CHECK_ACT_GAP_MISSING',
    ids: ['P7', 'C52'],
    find: ({ stale_check }) => [
      when(
        stale_check !== undefined &&
          !CONDITIONAL_WRITES.includes(stale_check.compares) &&
          stale_check.check_act_gap === undefined,
        '/stale_check/check_act_gap',
        `a check of ${stale_check?.compares ?? ''} leaves a gap before the act`,
      ),
    ],
  },
  {
    code: 'OBSERVER_ACTS',
    ids: ['A27', 'C4'],
    find: (contract, known) =>
      capabilitiesNamed(contract).map(({ path, name, reads }) => {
        const isActor =
          path !== '/verification/verify_capability' && name === contract.name && hasSideEffects(contract);
        const observer = name === contract.name ? undefined : known.contractOf?.(name);
        return when(
          reads && (isActor || (observer !== undefined && hasSideEffects(observer))),
          path,
          `${name} has side effects of its own`,
        );
      }),
  },
  {
    code: 'CEL_INVALID',
    ids: ['A27'],
    find: (contract) =>
      expressionsOf(contract).map(({ path, text, variables }) => {
        const wrong = conditionProblem(text, variables);
        return when(wrong !== null, path, `the expression does not compile: ${wrong ?? ''}`);
      }),
  },
  {
    code: 'CEL_TOO_COSTLY',
    ids: ['A27'],
    find: (contract) =>
      expressionsOf(contract).map(({ path, text }) => {
        const wrong = costProblem(text);
        return when(wrong !== null, path, wrong ?? '');
      }),
  },
  {
    code: 'CEL_UNREADABLE',
    ids: ['A27'],
    find: (contract, known) => expressionsOf(contract).flatMap((expression) => unreadable(contract, known, expression)),
  },
  {
    code: 'CAPABILITY_UNKNOWN',
    ids: ['A22', 'A29'],
    find: (contract, known) =>
      capabilitiesNamed(contract).map(({ path, name }) =>
        when(name !== contract.name && !known.has(name), path, `${name} has no contract`),
      ),
  },
];

/** States are compared with a word; anything else with what was recorded of the effect. */
const COMPARED_WITH_WORDS: readonly string[] = ['owner', 'status'];

function isCompared({ compares, condition }: NonNullable<ContractDraft['stale_check']>): boolean {
  const isBound = readsOf(condition, 'bound.args').length > 0 || readsOf(condition, 'bound').length > 0;
  return readsOf(condition, 'observed').length > 0 && (isBound || COMPARED_WITH_WORDS.includes(compares));
}

interface Expression {
  readonly path: string;
  readonly text: string;
  readonly variables: readonly string[];
  /** Capability whose result is `observed`. */
  readonly observer: string | undefined;
}

const JUDGED = ['observed', 'bound'];

function expressionsOf({ precondition, stale_check, verification, consequence }: ContractDraft): readonly Expression[] {
  const found: Expression[] = [];
  const add = (path: string, text: string, variables: readonly string[], observer: string | undefined): void => {
    found.push({ path, text, variables, observer });
  };
  if (precondition !== undefined)
    add('/precondition/condition', precondition.condition, ['observed', 'args'], precondition.observe_capability);
  if (stale_check !== undefined)
    add('/stale_check/condition', stale_check.condition, JUDGED, stale_check.observe_capability);
  if (verification !== undefined)
    add('/verification/success_condition', verification.success_condition, JUDGED, verification.verify_capability);
  for (const [dimension, text] of Object.entries(consequence ?? {}))
    add(pointerOf(['consequence', dimension]), text, ['args', 'result'], undefined);
  return found;
}

/** Members an expression reads and nothing declares: what is not there fails closed, for ever. */
function unreadable(
  contract: ContractDraft,
  known: KnownCapabilities,
  { path, text, observer }: Expression,
): readonly (Finding | null)[] {
  const observed = observer === undefined ? undefined : known.contractOf?.(observer)?.result_schema;
  const sources = [
    ['observed', names(observed)],
    ['args', names(contract.args_schema)],
    ['result', names(contract.result_schema)],
    ['bound.args', contract.reversal_args === undefined ? null : Object.keys(contract.reversal_args)],
  ] as const;
  return sources.flatMap(([source, declared]) =>
    declared === null
      ? []
      : readsOf(text, source).map((name) => when(!declared.includes(name), path, `nothing declares ${source}.${name}`)),
  );
}

/** Names a schema declares; null where it leaves them open. */
function names(schema: ContractDraft['args_schema']): readonly string[] | null {
  return schema === undefined ? null : declaredNames(schema as Json); // it came in as JSON
}
