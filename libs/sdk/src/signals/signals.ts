// Says how agents did: scores and incidents at a kind of task, and what their work cost and was worth.
//
// Boundary: one wire, at least once. Event ids are derived from what is said, so that saying it again changes nothing (L12). What does
// not count, the accountant records with its code (SignalRefused).
import { canonicalJson, deriveId, sha256Hex } from '@recourse/kernel';
import type { Kafka } from '@recourse/kafka';
import type { AgentSignalled, Codecs, Money, OutcomeRecorded } from '@recourse/messages';
import { refuseUnbelieved } from '../producer/believed.js';
import { refuseNobody, refuseUnfit, written } from '../producer/fitting.js';
import { refuseSeconds } from '../producer/instants.js';

/** Wire on which agents are spoken of. */
export const SIGNALS_TOPIC = 'recourse.agent-signals';

/** Scores, each from 0 to 1. */
export type Score =
  | 'evidence_confidence'
  | 'policy_confidence'
  | 'eval_score'
  | 'tool_reliability'
  | 'task_risk'
  | 'user_impact'
  | 'approval_history';
/** What goes wrong with an agent. */
export type Incident = 'policy_violation' | 'safety_violation' | 'replay_failed' | 'operator_correction';

interface About {
  /** Unique per source; derived from the content when absent. */
  readonly eventId?: string;
  /** Who says so, never the agent itself; whom this speaks for unless told. */
  readonly source?: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly runId?: string;
}

interface AboutTask extends About {
  /** Name of an autonomy policy, or a capability. */
  readonly taskKind: string;
  readonly reason?: string;
  /** When it was so, epoch milliseconds of the source. */
  readonly statedAt: number;
}

/** A score of an agent at a kind of task. */
export interface SaidScore extends AboutTask {
  readonly score: Score;
  /** From 0 to 1. */
  readonly value: number;
}

/** Something that went wrong. */
export interface SaidIncident extends AboutTask {
  readonly incident: Incident;
}

/** A piece of work. Counts and money are of all of it, retries and evaluations among them. */
export interface SaidOutcome extends About {
  readonly workflowId: string;
  readonly intent?: string;
  /** Release of the agent. */
  readonly version?: string;
  readonly accepted: boolean;
  readonly grounded: boolean;
  readonly policyCompliant: boolean;
  /** What the models cost. */
  readonly cost?: Money;
  readonly totalTokens?: number;
  readonly retryTokens?: number;
  readonly evalTokens?: number;
  readonly cacheLookups?: number;
  readonly cacheHits?: number;
  readonly succeeded?: boolean;
  readonly converted?: boolean;
  readonly deflected?: boolean;
  /** Thousandths, 0 to 1000. */
  readonly csatPermille?: number;
  readonly revenue?: Money;
  /** Epoch milliseconds of the source. */
  readonly endedAt: number;
}

/** Speaks of agents. Each call resolves with the event id once the broker has acknowledged. Errors: Failure(BROKER_UNAVAILABLE, TENANT_INVALID, PRINCIPAL_INVALID, INSTANT_INVALID, RECORD_UNFIT, RECORD_TOO_LARGE). */
export interface Signals {
  score(said: SaidScore): Promise<string>;
  incident(said: SaidIncident): Promise<string>;
  outcome(said: SaidOutcome): Promise<string>;
  close(): Promise<void>;
}

/** What signals need. */
export interface SignalsOptions {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  /** Who speaks: a critic, a monitor, the agent platform. */
  readonly source: string;
  /** Registers schemas that are not there; off where schemas are provisioned. */
  readonly registerSchemas?: boolean;
}

/** Opens the wire. Errors: Failure(BROKER_UNAVAILABLE, REGISTRY_UNAVAILABLE, UNKNOWN_SCHEMA). */
export async function createSignals({
  kafka,
  codecs,
  source,
  registerSchemas = false,
}: SignalsOptions): Promise<Signals> {
  await codecs.prepareWriter(SIGNALS_TOPIC, { register: registerSchemas });
  const wire = await kafka.wireProducer();

  async function send(type: string, body: AgentSignalled | OutcomeRecorded): Promise<string> {
    const { tenant, agent_id, source: speaker, event_id } = body;
    refuseSeconds(body);
    refuseNobody(tenant, [agent_id, speaker]);
    refuseUnfit(tenant, body);
    refuseUnbelieved(wire, type, body);
    const value = written(codecs, SIGNALS_TOPIC, type, body);
    await wire.send(SIGNALS_TOPIC, [{ key: Buffer.from(tenant, 'utf8'), value }]);
    return event_id;
  }

  return {
    score: (said) => send('AgentSignalled', signalBody(source, said, said.score, said.value)),
    incident: (said) => send('AgentSignalled', signalBody(source, said, said.incident, null)),
    outcome: (said) => send('OutcomeRecorded', outcomeBody(source, said)),
    close: () => wire.close(),
  };
}

/** Body of an AgentSignalled. */
export function signalBody(
  speaker: string,
  { eventId, source = speaker, tenant, agentId, taskKind, runId, reason, statedAt }: AboutTask,
  signal: string,
  value: number | null,
): AgentSignalled {
  return identified(eventId, {
    event_id: '',
    tenant,
    agent_id: agentId,
    task_kind: taskKind,
    source,
    signal,
    value,
    run_id: runId ?? null,
    reason: reason ?? null,
    stated_at: statedAt,
  });
}

/** What counts where nobody says anything. */
const UNSAID = {
  ...{ runId: null, intent: null, version: null, cost: null, revenue: null },
  ...{ totalTokens: 0, retryTokens: 0, evalTokens: 0, cacheLookups: 0, cacheHits: 0 },
  ...{ succeeded: null, converted: null, deflected: null, csatPermille: null },
} as const;

/** Body of an OutcomeRecorded. */
export function outcomeBody(speaker: string, { eventId, source = speaker, ...told }: SaidOutcome): OutcomeRecorded {
  const said = { ...UNSAID, ...told };
  return identified(eventId, {
    event_id: '',
    tenant: said.tenant,
    source,
    agent_id: said.agentId,
    workflow_id: said.workflowId,
    run_id: said.runId,
    intent: said.intent,
    version: said.version,
    accepted: said.accepted,
    grounded: said.grounded,
    policy_compliant: said.policyCompliant,
    cost: said.cost,
    total_tokens: said.totalTokens,
    retry_tokens: said.retryTokens,
    eval_tokens: said.evalTokens,
    cache_lookups: said.cacheLookups,
    cache_hits: said.cacheHits,
    succeeded: said.succeeded,
    converted: said.converted,
    deflected: said.deflected,
    csat_permille: said.csatPermille,
    revenue: said.revenue,
    ended_at: said.endedAt,
  });
}

/** The same content has the same id; a number that JSON knows none of is told by its name. */
function identified<Body extends AgentSignalled | OutcomeRecorded>(eventId: string | undefined, body: Body): Body {
  const text = JSON.stringify(body, (_name, value: unknown) => (typeof value === 'number' ? String(value) : value));
  return { ...body, event_id: eventId ?? deriveId('evt', body.source, sha256Hex(canonicalJson(text))) };
}
