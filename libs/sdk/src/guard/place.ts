// Where a call belongs, before anything is done: what could never be recorded is not made (L7).
//
// Boundary: pure. Callers without types pass anything.
import { isRunId, isSubject, isTenant, SUBJECT_FORM } from '@recourse/kernel';
import type { GuardedCall, GuardTrouble } from './guard.messages.js';

type Problem = GuardTrouble['problems'][number];

/** Longest identifier that is recorded, bytes. */
const ID_BYTES_MAX = 512;
const ID_FORM = `a text of 1 to ${String(ID_BYTES_MAX)} bytes without NUL`;

/** What is wrong with the place of a call, with pointers into it; empty where it can be recorded. */
export function placeProblems({ run, stepId, target, assumptionRefs }: GuardedCall): readonly Problem[] {
  const { tenant, runId, agentId, initiator } = run;
  const checks: readonly (readonly [isFine: boolean, path: string, form: string])[] = [
    [isText(tenant) && isTenant(tenant), '/tenant', 'the name of a tenant, not * and without blanks around it'],
    [isText(runId) && isRunId(runId), '/runId', ID_FORM],
    [isId(stepId), '/stepId', ID_FORM],
    [isText(agentId) && isSubject(agentId), '/agentId', SUBJECT_FORM],
    [initiator === null || (isText(initiator) && isSubject(initiator)), '/initiator', `null, or ${SUBJECT_FORM}`],
    [target === null || isId(target), '/target', `null, or ${ID_FORM}`],
    [isList(assumptionRefs) && assumptionRefs.every(isId), '/assumptionRefs', `a list, each of it ${ID_FORM}`],
  ];
  return checks
    .filter(([isFine]) => !isFine)
    .map(([, path, form]) => ({ code: 'PLACE_INVALID', path, message: `${path.slice(1)} has to be ${form}` }));
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function isId(value: unknown): boolean {
  return isText(value) && isRunId(value);
}
