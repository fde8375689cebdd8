// Decides what somebody says of an agent: who may say it, whether it can be so, and what it changes. Pure.
import { isSubject, isUsableId, personKey } from '@recourse/kernel';
import type { AgentSignalled, AutonomyChanged, AutonomyCause, Rung, Standing } from '@recourse/messages';
import { DERIVED_SIGNALS, INCIDENTS, SIGNAL_REFUSALS, SIGNALS, WHOLE_PPM } from './autonomy.messages.js';
import type { Autonomy, Incident, Key, SignalName, SignalRefusal } from './autonomy.messages.js';
import { reconsidered } from './standing.decisions.js';
import type { Happening, TaskFacts } from './standing.decisions.js';

/** How far the clock of a source may be ahead of ours, milliseconds. */
const AHEAD_MS = 300_000;

/** Fields the loop adds to every record. */
type ChainFields = 'seq' | 'prev_hash' | 'decided_at';
export type Change = Omit<AutonomyChanged, ChainFields>;

/** What a signal is decided on, beside itself. Epoch milliseconds. */
export interface SignalFacts {
  readonly standing: Autonomy | null;
  readonly task: TaskFacts;
  readonly now: number;
}

/** Why a signal does not count; null when it does. */
export function signalProblem(said: AgentSignalled, { standing, task, now }: SignalFacts): SignalRefusal | null {
  const { signal, value, source, agent_id, stated_at } = said;
  if (!isNamed(said)) return 'SIGNAL_NAME_INVALID';
  if (isDerived(signal)) return 'SIGNAL_DERIVED';
  if (!isScore(signal) && !isIncident(signal)) return 'SIGNAL_UNKNOWN';
  if (isOneself(source, agent_id)) return 'SIGNAL_OF_ONESELF';
  if (task.policy.sources?.includes(source) === false) return 'SOURCE_NOT_TRUSTED';
  if (!isFitting(signal, value)) return 'SIGNAL_OUT_OF_RANGE';
  if (stated_at > now + AHEAD_MS) return 'SIGNAL_AHEAD';
  const newest = standing?.signals.find((one) => one.signal === signal)?.stated_at ?? null;
  return newest !== null && stated_at < newest ? 'SIGNAL_SUPERSEDED' : null;
}

/** What a signal that counts is to the agent it is about; `toldId`: of its source and event together, since each source has its own. */
export function happeningOf({ signal, value, source, event_id, stated_at }: AgentSignalled, toldId: string): Happening {
  if (isScore(signal))
    return {
      kind: 'said',
      signal,
      said: { stated_ppm: Math.round((value ?? 0) * WHOLE_PPM), source, event_id, stated_at },
    };
  const kind = INCIDENTS[signal as Incident]; // the only other that counts
  return kind === 'correction' ? { kind, id: toldId } : { kind };
}

/** What a change says beside what it changes; whatever is left out is not known. */
export type Said = Partial<
  Pick<
    Change,
    'signal' | 'source' | 'event_id' | 'content_hash' | 'run_id' | 'mutation_id' | 'by' | 'reason' | 'command_id'
  >
>;

/** The record of a judgement, with all it was made on. */
export function changed(
  key: Key,
  happening: Happening,
  { standing, task, now }: SignalFacts,
  { cause = causeOf(happening), ...said }: Said & { readonly cause?: AutonomyCause } = {},
): Change & { readonly standing: Standing } {
  const before: Rung = standing?.rung ?? 'read';
  const { autonomy_id, tenant, agent_id, task_kind } = key;
  return {
    ...{ autonomy_id, tenant, agent_id, task_kind, cause, before },
    ...{ signal: null, source: null, event_id: null, content_hash: null, run_id: null },
    ...{ mutation_id: null, by: null, reason: null, command_id: null, undoing_id: null, remaining: [] },
    ...said,
    standing: reconsidered(standing, happening, task, now),
  };
}

function causeOf({ kind }: Happening): AutonomyCause {
  return kind === 'said' ? 'signal' : kind;
}

/** The same for people. */
export function refusalText(code: SignalRefusal): string {
  return SIGNAL_REFUSALS[code];
}

function isScore(signal: string): signal is SignalName {
  return SIGNALS.some((name) => name === signal) && !isDerived(signal);
}

function isDerived(signal: string): boolean {
  return DERIVED_SIGNALS.includes(signal);
}

function isIncident(signal: string): signal is Incident {
  return Object.hasOwn(INCIDENTS, signal);
}

/** A score is a part, an incident has none; NaN is no part of anything. */
function isFitting(signal: string, value: number | null): boolean {
  if (!isScore(signal)) return value === null;
  return value !== null && value >= 0 && value <= 1;
}

function isNamed({ agent_id, source, task_kind, event_id, run_id }: AgentSignalled): boolean {
  return isSubject(agent_id) && isSubject(source) && [task_kind, event_id, run_id ?? event_id].every(isUsableId);
}

/** However the name is spelt. */
function isOneself(source: string, agent: string): boolean {
  return personKey(source) === personKey(agent);
}
