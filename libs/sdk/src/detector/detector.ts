// Detector: makes triggers of what is seen. In the process of the agent, beside it (`serveDetector`), or apart (`createDetectorConsumer`).
//
// Boundary: judges by rules alone; whether a trigger is admitted is the orchestrator's, what falls with it the ledger's.
import { Failure, systemClock } from '@recourse/kernel';
import { warningOf } from '../consumer/warning.js';
import { NotForKey } from '../producer/believed.js';
import type { Producer } from '../producer/producer.js';
import { quietly } from '../quietly.js';
import { byHash, detect, ruleProblem } from './detector.decisions.js';
import type { Detection, DetectorRule, Sighting, Trigger } from './detector.messages.js';
import type { RollbackTriggers } from './rollback-triggers.port.js';

/** A rule that could never judge. */
export class DetectorRuleInvalid extends Error {
  override readonly name = 'DetectorRuleInvalid';
  readonly code = 'DETECTOR_RULE_INVALID';
}

/** What a detector needs. */
export interface DetectorOptions {
  readonly rules: readonly DetectorRule[];
  /** Takes each trigger; may be given one again. An error is the caller's of `see`. */
  readonly tell: (trigger: Trigger) => Promise<void>;
}

/** Judges what is seen. */
export interface Detector {
  /** Resolves when every trigger was told. Errors: those of `tell`; shown again, the same triggers are told again. */
  see(sighting: Sighting): Promise<Detection>;
}

/**
 * Makes a detector.
 *
 * Errors: DetectorRuleInvalid, with everything that is wrong with the rules.
 */
export function createDetector({ rules, tell }: DetectorOptions): Detector {
  const problems = rules.map(ruleProblem).filter((problem) => problem !== null);
  if (problems.length > 0) throw new DetectorRuleInvalid(problems.join('; '));
  return {
    async see(sighting) {
      const detection = detect(sighting, rules);
      for (const trigger of detection.triggers) await tell(trigger);
      return detection;
    },
  };
}

/** Where triggers go. */
export interface TellerOptions {
  readonly producer: Pick<Producer, 'assumptionInvalidated'>;
  /** Takes triggers that name a commit. */
  readonly rollbacks: RollbackTriggers;
  /** Hears of a trigger that nobody will take, or that the key of this process may not tell, with the code and why; a warning of the process unless told otherwise. */
  readonly onRefused?: (trigger: Trigger, code: string, detail: string) => void;
}

type FailureCode = Failure['code'];

/** What a record is refused for however often it is sent: whoever made up what was seen would stop all that is seen after it. */
const FOR_GOOD: readonly FailureCode[] = [
  'INSTANT_INVALID',
  'RECORD_UNFIT',
  'RECORD_TOO_LARGE',
  'TENANT_INVALID',
  'PRINCIPAL_INVALID',
];
/** What goes where what was seen is told by its hash. */
const FOR_ITS_FACTS: readonly FailureCode[] = ['RECORD_UNFIT', 'RECORD_TOO_LARGE'];

/**
 * Makes the `tell` of a detector: contradicted assumptions go to the wire, named commits to the orchestrator.
 *
 * Errors: none of its own; what it makes rejects when broker or orchestrator do not answer.
 */
export function triggerTeller({
  producer,
  rollbacks,
  onRefused = warned(),
}: TellerOptions): (trigger: Trigger) => Promise<void> {
  const hearRefused = quietly(onRefused);
  return async (trigger) => {
    if (trigger.on === 'assumption') {
      const refusal = await stated(producer, trigger.statement);
      if (refusal !== null) hearRefused(trigger, refusal.code, refusal.detail);
      return;
    }
    const { tenant, runId, commitId, reason, eventId } = trigger;
    const answer = await rollbacks.trigger({ tenant, runId, commitId, reason, idempotencyKey: eventId });
    if (answer.kind === 'unavailable') throw new Error('the trigger was not taken', { cause: answer.cause });
    if (answer.kind === 'refused') hearRefused(trigger, answer.code, `commit ${commitId} of run ${runId} is not taken`);
  };
}

/** What was seen and is told to nobody is not passed over in silence. */
function warned(): NonNullable<TellerOptions['onRefused']> {
  const warn = warningOf('detector', systemClock, 'TRIGGER_REFUSED');
  return ({ rule }, code, detail) => {
    warn(`a trigger of the rule ${rule} is told to nobody: ${code}: ${detail}`);
  };
}

/** States what was seen, or its hash where that does not fit; answers why nobody will take it, null where it was taken. Errors: those of sending. */
async function stated(
  producer: TellerOptions['producer'],
  statement: Extract<Trigger, { on: 'assumption' }>['statement'],
): Promise<Failure | null> {
  const whole = await refusalOf(() => producer.assumptionInvalidated(statement));
  return whole !== null && FOR_ITS_FACTS.includes(whole.code)
    ? refusalOf(() => producer.assumptionInvalidated(byHash(statement)))
    : whole;
}

async function refusalOf(send: () => Promise<unknown>): Promise<Failure | null> {
  try {
    await send();
    return null;
  } catch (cause) {
    if (cause instanceof NotForKey || (cause instanceof Failure && FOR_GOOD.includes(cause.code))) return cause;
    throw cause;
  }
}
