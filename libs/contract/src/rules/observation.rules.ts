// Rules of observation: who looks, at what, and with which condition.
import type { Json } from '@recourse/kernel';
import { hasSideEffects, isAutomated, reversalCallsOf } from '../class.js';
import { conditionProblem, costProblem, readsOf } from '../condition.js';
import { isFixed, isImplied } from '../condition-proof.js';
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
  const further = reversalCallsOf(contract)
    .slice(1)
    .flatMap(({ at, capability, verification }) => [
      [at.capability, capability ?? undefined, false] as const,
      [`${at.verification}/verify_capability`, verification?.verify_capability, true] as const,
    ]);
  return [...named, ...further].flatMap(([path, name, reads]) => (name === undefined ? [] : [{ path, name, reads }]));
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
      const calls = reversalCallsOf(contract);
      const { name, inverse_capability: inverse, compensation_capability: compensation } = contract;
      const actors = [name, inverse, compensation, ...calls.map(({ capability }) => capability ?? undefined)];
      return calls.map(({ verification, at }) =>
        when(
          verification !== undefined && actors.includes(verification.verify_capability),
          `${at.verification}/verify_capability`,
          'the acting capability would vouch for itself',
        ),
      );
    },
  },
  { code: 'VERIFICATION_PROVES_NOTHING', ids: ['A27', 'A65'], find: (contract) => provingNothing(contract) },
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
          !path.endsWith('/verification/verify_capability') && name === contract.name && hasSideEffects(contract);
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

/**
 * Success conditions that hold whether or not anything was undone: what is verified by them is proved by nothing.
 *
 * Shape: the look before a reversal is compared with the verification of its first call alone, where one capability makes both looks.
 */
export function provingNothing(contract: ContractDraft): readonly Finding[] {
  const { stale_check: stale } = contract;
  return reversalCallsOf(contract).flatMap(({ verification, at }, index) => {
    if (verification === undefined) return [];
    const { success_condition: condition, verify_capability: by } = verification;
    if (conditionProblem(condition, JUDGED) !== null || costProblem(condition) !== null) return [];
    const path = `${at.verification}/success_condition`;
    if (isFixed(condition, 'observed')) return [{ path, what: 'the condition says the same whatever is observed' }];
    return index === 0 && stale?.observe_capability === by && isImplied(condition, stale.condition)
      ? [{ path, what: 'the condition holds before anything is undone: stale_check asks for the same' }]
      : [];
  });
}

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
  /** Names of the arguments that are `bound.args`. */
  readonly bound: readonly string[] | null;
}

const JUDGED = ['observed', 'bound'];

function expressionsOf(contract: ContractDraft): readonly Expression[] {
  const { precondition, stale_check, consequence, reversal_args: args } = contract;
  const bound = args === undefined ? null : Object.keys(args);
  const looks = [
    {
      path: '/precondition/condition',
      text: precondition?.condition,
      variables: ['observed', 'args'],
      observer: precondition?.observe_capability,
      bound,
    },
    {
      path: '/stale_check/condition',
      text: stale_check?.condition,
      variables: JUDGED,
      observer: stale_check?.observe_capability,
      bound,
    },
    ...reversalCallsOf(contract).map(({ verification, at, args: own }, index) => ({
      path: `${at.verification}/success_condition`,
      text: verification?.success_condition,
      variables: JUDGED,
      observer: verification?.verify_capability,
      bound: index === 0 ? bound : Object.keys(own),
    })),
    ...Object.entries(consequence ?? {}).map(([dimension, text]) => ({
      path: pointerOf(['consequence', dimension]),
      text,
      variables: ['args', 'result'],
      observer: undefined,
      bound,
    })),
  ];
  return looks.flatMap(({ text, ...look }) => (text === undefined ? [] : [{ ...look, text }]));
}

/** Members an expression reads and nothing declares: what is not there fails closed, for ever. */
function unreadable(
  contract: ContractDraft,
  known: KnownCapabilities,
  { path, text, observer, bound }: Expression,
): readonly (Finding | null)[] {
  const observed = observer === undefined ? undefined : known.contractOf?.(observer)?.result_schema;
  const sources = [
    ['observed', names(observed)],
    ['args', names(contract.args_schema)],
    ['result', names(contract.result_schema)],
    ['bound.args', bound],
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
