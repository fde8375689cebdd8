// Where a call belongs, before anything is done: what could never be recorded is not made (L7).
//
// Boundary: pure. Callers without types pass anything.
import { isRunId, isSubject, isTenant, RUN_BYTES_MAX, SUBJECT_FORM } from '@recourse/kernel';
import { REACH_VALUES } from '@recourse/messages';
import { RELEASE_PARTS } from '../release.js';
import type { GuardedCall, GuardTrouble } from './guard.messages.js';

type Problem = GuardTrouble['problems'][number];

const ID_FORM = `a text of 1 to ${String(RUN_BYTES_MAX)} bytes without NUL`;
const REACHES: readonly unknown[] = REACH_VALUES;

/** What is wrong with the place of a call, with pointers into it; empty where it can be recorded. */
export function placeProblems(call: GuardedCall): readonly Problem[] {
  return [...runChecks(call), ...callChecks(call)]
    .filter(([isFine]) => !isFine)
    .map(([, path, form]) => ({ code: 'PLACE_INVALID', path, message: `${path.slice(1)} has to be ${form}` }));
}

type Check = readonly [isFine: boolean, path: string, form: string];

function runChecks({ run, stepId, target, assumptionRefs }: GuardedCall): readonly Check[] {
  const { tenant, runId, agentId, initiator } = membersOf(run);
  return [
    [isText(tenant) && isTenant(tenant), '/tenant', 'the name of a tenant, not * and without blanks around it'],
    [isText(runId) && isRunId(runId), '/runId', ID_FORM],
    [isId(stepId), '/stepId', ID_FORM],
    [isText(agentId) && isSubject(agentId), '/agentId', SUBJECT_FORM],
    [initiator === null || (isText(initiator) && isSubject(initiator)), '/initiator', `null, or ${SUBJECT_FORM}`],
    [target === null || isId(target), '/target', `null, or ${ID_FORM}`],
    [isList(assumptionRefs) && assumptionRefs.every(isId), '/assumptionRefs', `a list, each of it ${ID_FORM}`],
  ];
}

/** What may be left out. */
function callChecks({ run, derivedFrom, producedBy, reach }: GuardedCall): readonly Check[] {
  const { objective, onFailure, release } = membersOf(run);
  const hasParents = derivedFrom === undefined || (isList(derivedFrom) && derivedFrom.every(isParent));
  const isRelease = release === undefined || RELEASE_PARTS.every((part) => isText(membersOf(release)[part]));
  return [
    [isTextOrNone(objective), '/objective', 'a text'],
    [onFailure === undefined || onFailure === 'keep' || onFailure === 'compensate', '/onFailure', 'keep or compensate'],
    [isRelease, '/release', `an object with a text for each of ${RELEASE_PARTS.join(', ')}`],
    [hasParents, '/derivedFrom', `a list of {runId, mutationId}, each ${ID_FORM}`],
    [isTextOrNone(producedBy), '/producedBy', 'null or a text'],
    [reach === undefined || REACHES.includes(reach), '/reach', `one of ${REACHES.join(', ')}`],
  ];
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTextOrNone = (value: unknown): boolean => value === undefined || value === null || isText(value);
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function isParent(value: unknown): boolean {
  const { runId, mutationId } = membersOf(value);
  return isId(runId) && isId(mutationId);
}

/** Any object may be read by name; anything else has no members. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function isId(value: unknown): boolean {
  return isText(value) && isRunId(value);
}
