// What a call of a drill says about its repair path: as the contract has it, drifted, or not exercised. Pure.
import { evaluateExpression } from '@recourse/contract';
import type { Contract, ForwardFinding } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { checkArgs } from '@recourse/contract';
import { statusesIn, verdictFor } from '../guard/verdict.decisions.js';
import { isRejected, memberOf, wordsOf } from '../tool/thrown.js';

/** Paths of a repair, in the order a drill goes them. */
export const DRILL_PATHS = [
  'find_nothing',
  'forward',
  'find_forward',
  'bind',
  'stale_check',
  'look_before',
  'undo',
  'verify',
  'repeat',
  'look_back',
] as const;
/** One path of a repair. */
export type DrillPath = (typeof DRILL_PATHS)[number];

/** How a path left what its contract says: the shape of what goes in or comes out, who may call, or what it does. */
export type DriftKind = 'schema' | 'permission' | 'behaviour';

/** What one path showed. */
export interface DrillVerdict {
  readonly verdict: 'clean' | 'drift' | 'not_run';
  /** Null unless drifted. */
  readonly drift: DriftKind | null;
  /** Why; null when clean. */
  readonly detail: string | null;
}

/** As the contract has it. */
export const CLEAN: DrillVerdict = { verdict: 'clean', drift: null, detail: null };

/** A path that is not as its contract has it. */
export function drifted(drift: DriftKind, detail: string): DrillVerdict {
  return { verdict: 'drift', drift, detail };
}

/** A path about which nothing was learnt. */
export function notRun(detail: string): DrillVerdict {
  return { verdict: 'not_run', drift: null, detail };
}

/** What a call that threw says: who was refused entry, or their arguments, met a drift; who got no answer learnt nothing. */
export function ofError(error: unknown): DrillVerdict {
  const detail = wordsOf(error);
  const kind = kindOf(error);
  switch (kind) {
    case 'POLICY_DENIED':
      return drifted('permission', detail);
    case 'ARGS_INVALID':
      return drifted('schema', detail);
    case 'TIMEOUT':
    case 'TRANSIENT_NETWORK':
    case 'RATE_LIMITED':
    case 'SERVER':
    case 'RECONCILIATION_PENDING':
    case 'UNKNOWN':
      return notRun(`${kind}: ${detail}`);
    case 'IDEMPOTENCY_CONFLICT':
    case 'EVIDENCE_STALE':
    case 'CONTENT_FILTER':
    case 'REFUSAL':
    case 'REJECTED':
      return drifted('behaviour', `refused: ${detail}`);
  }
}

/** A status that refuses is an answer, also where it leaves open what an earlier call did. */
function isRefused(error: unknown): boolean {
  return statusesIn(error).some((status) => status >= 400 && status < 500);
}

/** A refusal of the tool's own word may still carry what the provider answered. */
function kindOf(error: unknown): NonNullable<ReturnType<typeof verdictFor>>['kind'] {
  const own = verdictFor({ on: 'exception', error })?.kind ?? 'UNKNOWN';
  if (own === 'UNKNOWN' && isRefused(error)) return 'REJECTED';
  const cause = own === 'REJECTED' && isRejected(error) ? memberOf(error, 'cause') : undefined;
  if (cause === undefined) return own;
  const caused = verdictFor({ on: 'exception', error: cause })?.kind ?? own;
  return caused === 'UNKNOWN' ? own : caused;
}

/** Whether a value has the shape that a contract declares. A keyword we do not read says nothing. */
export function ofShape(value: Json, schema: Contract['result_schema'] | undefined, what: string): DrillVerdict {
  // A schema came as JSON, and is nothing else.
  const problems =
    schema === undefined
      ? []
      : checkArgs(value, schema as Json).filter(({ code }) => code !== 'ARGS_SCHEMA_UNSUPPORTED');
  return problems.length === 0
    ? CLEAN
    : drifted('schema', `${what}: ${problems.map(({ message }) => message).join('; ')}`);
}

/** Facts that a condition is judged by. */
export interface ConditionScene {
  readonly observed: Json;
  readonly bound: Json;
  readonly args: Json;
}

/** Whether an observation meets a condition, as it should or should not. What cannot be judged reads something that is not there. */
export function ofCondition(condition: string, facts: ConditionScene, wanted: boolean): DrillVerdict {
  const judged = evaluateExpression(condition, { ...facts });
  if (!judged.ok)
    return drifted('schema', `the condition ${condition} cannot be judged: ${judged.said ?? judged.detail}`);
  if (judged.holds === wanted) return CLEAN;
  return drifted(
    'behaviour',
    wanted ? `the condition ${condition} does not hold` : `the condition ${condition} holds before anything was undone`,
  );
}

/** Schema of what a capability answers, where a contract declares it. */
export function resultSchemaOf(
  contracts: readonly Contract[],
  capability: string,
): Contract['result_schema'] | undefined {
  return contracts.find(({ name }) => name === capability)?.result_schema;
}

/** What a look back at a forward call shows: whether it says what is so, and under which handle. */
export function ofFinding(
  finding: ForwardFinding,
  wanted: 'happened' | 'not_happened',
  externalRef: string | null,
): DrillVerdict {
  if (finding.kind === 'unknown')
    return drifted('schema', 'its answer says neither that the call happened nor that it did not');
  if (finding.kind !== wanted)
    return drifted(
      'behaviour',
      wanted === 'happened' ? 'a call that happened is not found' : 'a call that never was is found',
    );
  return finding.kind === 'happened' && externalRef !== null && finding.externalRef !== externalRef
    ? drifted('behaviour', 'it finds the call under another handle')
    : CLEAN;
}
