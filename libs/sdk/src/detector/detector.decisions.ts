// Judges what was seen. Pure, and the same wherever the detector runs (E24).
import { conditionProblem, evaluateExpression, readPointer } from '@recourse/contract';
import { canonicalJson, deriveId, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { DETECTION_REMEDIES } from './detector.messages.js';
import type {
  Detection,
  DetectionRefusal,
  DetectionRefusalCode,
  DetectorRule,
  Offender,
  OffenderRule,
  Sighting,
  Trigger,
} from './detector.messages.js';

/** Refs of commits: only their rollback speaks against them. */
const RESERVED_PREFIX = 'commit/';
type Stated = Extract<Trigger, { on: 'assumption' }>['statement'];
const PLACEHOLDER = /\{([^{}]*)\}/g;
/** What a ref may take from facts: nothing that would make another ref of it. */
const PART = /^[^\s#{}\p{Cc}\p{Cs}]{1,128}$/u;

/**
 * Says which triggers a sighting makes.
 *
 * Shape:  a rule that is not about the sighting says nothing; one that is and cannot make a trigger says why.
 * Errors: none; what is wrong is a coded refusal (E8).
 */
export function detect(sighting: Sighting, rules: readonly DetectorRule[]): Detection {
  const findings = rules.filter((rule) => isAbout(rule, sighting)).map((rule) => judged(rule, sighting));
  return {
    triggers: findings.filter((each) => each !== null && 'on' in each),
    refusals: findings.filter((each) => each !== null && 'code' in each),
  };
}

/** What is wrong with a rule before it judges anything; null when nothing is. */
export function ruleProblem({ name, kinds, sources, expects, offender }: DetectorRule): string | null {
  if (
    name === '' ||
    kinds.length === 0 ||
    sources.length === 0 ||
    (typeof offender === 'object' && 'ref' in offender && offender.ref === '')
  )
    return `the rule ${name} needs a name, kinds, sources and what it speaks against`;
  const wrong = conditionProblem(expects, ['observed']);
  if (wrong !== null) return `what the rule ${name} expects does not compile: ${wrong}`;
  return typeof offender === 'object' && 'ref' in offender && offender.ref.startsWith(RESERVED_PREFIX)
    ? `the rule ${name} states a ref of a commit, which nobody does`
    : null;
}

function isAbout({ kinds, sources }: DetectorRule, { kind, source }: Sighting): boolean {
  return (
    kinds.includes(kind) &&
    sources.some((pattern) => (pattern.endsWith('*') ? source.startsWith(pattern.slice(0, -1)) : source === pattern))
  );
}

/** Null where what was expected holds: there is nothing to say. */
function judged(rule: DetectorRule, sighting: Sighting): Trigger | DetectionRefusal | null {
  const { facts } = sighting;
  if (isNothing(facts)) return refused('TRIGGER_WITHOUT_EVIDENCE', rule, 'nothing was seen');
  const verdict = evaluateExpression(rule.expects, { observed: facts });
  if (!verdict.ok) return refused('TRIGGER_UNDECIDED', rule, verdict.detail);
  if (verdict.holds) return null;
  const offender = offenderOf(rule.offender, sighting);
  if (offender === null)
    return refused('TRIGGER_WITHOUT_OFFENDER', rule, 'the facts do not name what they speak against');
  if ('ref' in offender && offender.ref.startsWith(RESERVED_PREFIX))
    return refused('REF_RESERVED', rule, `${offender.ref} is a commit's`);
  return triggerOf(rule, sighting, offender);
}

function offenderOf(rule: OffenderRule, { facts, runId, about }: Sighting): Offender | null {
  if (rule === 'named') return about ?? null;
  if ('ref' in rule) {
    const ref = refOf(rule.ref, facts);
    if (ref === null || (rule.isOfRun === true && runId === null)) return null;
    return rule.isOfRun === true && runId !== null ? { ref, runId } : { ref };
  }
  const [run, commit] = [readPointer(facts, rule.run), readPointer(facts, rule.commit)];
  return typeof run === 'string' && typeof commit === 'string' && run !== '' && commit !== ''
    ? { runId: run, commitId: commit }
    : null;
}

/** A ref with what its template takes from the facts; null when something is not there, or cannot be part of a ref. */
function refOf(template: string, facts: Json): string | null {
  const parts = new Map(
    [...template.matchAll(PLACEHOLDER)].map(([all, pointer = '']) => [all, partOf(readPointer(facts, pointer))]),
  );
  return [...parts.values()].includes(null) ? null : template.replaceAll(PLACEHOLDER, (all) => parts.get(all) ?? '');
}

function partOf(value: Json | undefined): string | null {
  const part = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return PART.test(part) ? part : null;
}

function triggerOf(rule: DetectorRule, { tenant, kind, source, facts, seenAt }: Sighting, offender: Offender): Trigger {
  const digest = sha256Hex(canonicalJson(facts));
  const against = 'ref' in offender ? [offender.ref, offender.runId ?? ''] : [offender.runId, offender.commitId];
  const eventId = deriveId('trg', tenant, kind, source, rule.name, ...against, seenAt, digest);
  if ('ref' in offender) {
    const statement = { rule: rule.name, expected: rule.expects, observed: facts };
    return {
      on: 'assumption',
      eventId,
      rule: rule.name,
      statement: { eventId, source, tenant, ...offender, statement, statedAt: seenAt, sourceKind: kind },
    };
  }
  // A reason is kept in the clear for good, so what was seen is in it by its hash alone.
  const reason = `${rule.name}: ${source} (${kind}) saw at ${String(seenAt)} what is not as expected: ${rule.expects.slice(0, 1_000)}; sha-256 of what was seen: ${digest}`;
  return { on: 'commit', eventId, rule: rule.name, tenant, ...offender, reason };
}

/** A statement that tells what was seen by its hash alone. */
export function byHash(statement: Stated): Stated {
  const { observed, ...rest } = statement.statement as { readonly observed: Json }; // triggerOf wrote it
  return { ...statement, statement: { ...rest, observed_sha256: sha256Hex(canonicalJson(observed)) } };
}

function isNothing(facts: Json): boolean {
  return facts === null || facts === '' || (typeof facts === 'object' && Object.keys(facts).length === 0);
}

function refused(code: DetectionRefusalCode, { name }: DetectorRule, what: string): DetectionRefusal {
  return { code, rule: name, reason: `${what}. ${DETECTION_REMEDIES[code]}` };
}
