// Producer: tells Recourse what agents did and what the world says about their assumptions.
//
// Boundary: wires only, at least once. Event ids are derived from what is told, so a repeated publication is
// deduplicated by whoever reads it (L12).
import { markedPayload } from '../context/classification.decisions.js';
import { canonicalJson, deriveId, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { Kafka } from '@recourse/kafka';
import type {
  AssumptionInvalidated,
  Checkpoint,
  Codecs,
  CheckpointTaken,
  OutcomeKind,
  Payload,
  ReleaseTuple,
  SourceKind,
  StateChunk,
  ToolExecuted,
  ToolOutcome,
  ToolPlanned,
} from '@recourse/messages';
import { refuseSeconds } from './instants.js';
import type { Instants } from './instants.js';
import { refuseUnbelieved } from './believed.js';
import { readable, refuseNobody, refuseNoText, refuseUnfit, refuseUnstatable, written } from './fitting.js';

/** Wire on which intents and executions are told. */
export const EXECUTIONS_TOPIC = 'recourse.tool-executions';
/** Wire on which the world states what became of assumptions. */
export const ASSUMPTIONS_TOPIC = 'recourse.assumption-events';

/** An action of an agent, as it is told before and after. */
export interface Action {
  readonly tenant: string;
  readonly runId: string;
  readonly agentId: string;
  /** Person on whose behalf the agent acts; null when unknown. */
  readonly initiator: string | null;
  readonly objective: string | null;
  readonly stepId: string;
  readonly callId: string;
  readonly capability: string;
  /** Digest of the contract it runs under; null when the producer knows none. */
  readonly contractDigest: Buffer | null;
  readonly effectKey: string;
  readonly idempotencyKey: string;
  readonly subjectRef: string | null;
  /** Validated arguments. */
  readonly args: Json;
  readonly assumptionRefs: readonly string[];
  /** Commits this one is made from; those of its own run set the order of an undo. None unless told. */
  readonly derivedFrom?: readonly { readonly runId: string; readonly mutationId: string }[];
  /** What becomes of the run's earlier effects when this one fails for good; they are kept unless told. */
  readonly onFailure?: 'keep' | 'compensate';
  /** The model's decision that proposed it, by its id: a message, an answer or a tool call. */
  readonly producedBy?: string | null;
  /** What decided to act. */
  readonly release?: ReleaseTuple;
}

/** What was done before the call, and who makes it. */
export interface Preparation {
  /** The effect is left to the ledger, which lets it go through a worker when the contract's hold ends. */
  readonly isHeld?: boolean;
  /** Value that is about to be overwritten; null or absent when none was read. */
  readonly priorValue?: Json | null;
  /** What a dry run said; null or absent without one. */
  readonly rehearsal?: Json | null;
  /** Handle of what is staged at the provider while the effect is held; null or absent when nothing is. */
  readonly stagedRef?: string | null;
}

/** What came of an action. Instants in epoch milliseconds of the producer. */
export interface ActionOutcome {
  readonly outcome: ToolOutcome;
  readonly result: Json | null;
  readonly priorValue: Json | null;
  readonly externalTransactionRef: string | null;
  readonly errorKind: string | null;
  /** What the caller does about a failure; null or absent when there is none, or nothing is decided. */
  readonly handledAs?: OutcomeKind | null;
  readonly committedAt: number;
}

/** What somebody says about an assumption. */
export interface Statement {
  /** Unique per source; derived from the content when absent. */
  readonly eventId?: string;
  /** Who states it; whom the producer speaks for unless told. */
  readonly source?: string;
  readonly tenant: string;
  /** Name of the assumption, e.g. `order/4711#not_shipped`. */
  readonly ref: string;
  /** Run it is limited to; absent for every run of the tenant. */
  readonly runId?: string;
  readonly statement: Json;
  /** When it became so, epoch milliseconds of the source. */
  readonly statedAt: number;
}

/** A checkpoint, as it is told. */
export interface ToldCheckpoint {
  /** Hash of the checkpoint, `commitIdOf`. */
  readonly commitId: string;
  readonly checkpoint: Checkpoint;
}

/** A part of the state of a checkpoint, where one record does not hold it. */
export interface ToldChunk {
  readonly tenant: string;
  readonly runId: string;
  readonly commitId: string;
  /** Place among the chunks, from 0. */
  readonly index: number;
  readonly chunk: Payload;
}

/** Publishes. Each call resolves with the event id once the broker has acknowledged. Errors: Failure(BROKER_UNAVAILABLE, KEY_NOT_BELIEVED, TENANT_INVALID, PRINCIPAL_INVALID, INSTANT_INVALID, RECORD_UNFIT, RECORD_TOO_LARGE). */
export interface Producer {
  toolPlanned(action: Action, plannedAt: number, preparation?: Preparation): Promise<string>;
  toolExecuted(action: Action, outcome: ActionOutcome): Promise<string>;
  checkpointTaken(taken: ToldCheckpoint): Promise<string>;
  stateChunk(chunk: ToldChunk): Promise<string>;
  assumptionDeclared(statement: Statement): Promise<string>;
  assumptionInvalidated(statement: Statement & { readonly sourceKind: SourceKind }): Promise<string>;
  assumptionReaffirmed(statement: Statement): Promise<string>;
  close(): Promise<void>;
}

/** What a producer needs. */
export interface ProducerOptions {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  /** Who speaks: agent platform, warehouse, monitor. */
  readonly source: string;
  /** Registers schemas that are not there; off where schemas are provisioned. */
  readonly registerSchemas?: boolean;
}

interface Told extends Instants {
  readonly event_id: string;
  readonly tenant: string;
  readonly agent_id?: string;
  readonly initiator?: string | null;
}

/** Opens a producer. Errors: Failure(BROKER_UNAVAILABLE, REGISTRY_UNAVAILABLE, UNKNOWN_SCHEMA). */
export async function createProducer({
  kafka,
  codecs,
  source,
  registerSchemas = false,
}: ProducerOptions): Promise<Producer> {
  for (const topic of [EXECUTIONS_TOPIC, ASSUMPTIONS_TOPIC])
    await codecs.prepareWriter(topic, { register: registerSchemas });
  const wire = await kafka.wireProducer();

  async function send(topic: string, type: string, key: string, body: Told): Promise<string> {
    refuseSeconds(body);
    refuseNobody(body.tenant, [body.agent_id, body.initiator]);
    refuseNoText('runId', key);
    refuseUnfit(key, body);
    refuseUnbelieved(wire, type, body);
    const value = written(codecs, topic, type, body);
    await wire.send(topic, [{ key: Buffer.from(key, 'utf8'), value }]);
    return body.event_id;
  }

  async function state(type: string, given: Statement, more: object = {}): Promise<string> {
    refuseNoText('ref', given.ref);
    refuseUnstatable(given.ref, given.runId ?? null);
    const statement = { ...given, statement: readable('statement', given.statement) };
    return send(ASSUMPTIONS_TOPIC, type, statement.ref, { ...statementBody(source, type, statement), ...more });
  }

  return {
    toolPlanned: (action, plannedAt, preparation) =>
      send(EXECUTIONS_TOPIC, 'ToolPlanned', action.runId, plannedBody(source, action, plannedAt, preparation)),
    toolExecuted: (action, outcome) =>
      send(EXECUTIONS_TOPIC, 'ToolExecuted', action.runId, executedBody(source, action, outcome)),
    checkpointTaken: (taken) =>
      send(EXECUTIONS_TOPIC, 'CheckpointTaken', taken.checkpoint.run_id, checkpointBody(source, taken)),
    stateChunk: (chunk) => send(EXECUTIONS_TOPIC, 'StateChunk', chunk.runId, chunkBody(source, chunk)),
    assumptionDeclared: (statement) => state('AssumptionDeclared', statement),
    assumptionInvalidated: ({ sourceKind, ...statement }) =>
      state('AssumptionInvalidated', statement, { source_kind: sourceKind }),
    assumptionReaffirmed: (statement) => state('AssumptionReaffirmed', statement),
    close: () => wire.close(),
  };
}

/** Body of a ToolPlanned. */
export function plannedBody(
  source: string,
  action: Action,
  plannedAt: number,
  { isHeld = false, priorValue = null, rehearsal = null, stagedRef = null }: Preparation = {},
): ToolPlanned {
  return {
    ...actionBody(source, 'planned', action),
    planned_at: plannedAt,
    is_held: isHeld,
    prior_value: payloadOrNull(priorValue),
    rehearsal: payloadOrNull(rehearsal),
    staged_ref: stagedRef,
  };
}

/** Body of a ToolExecuted. */
export function executedBody(
  source: string,
  action: Action,
  { outcome, result, priorValue, externalTransactionRef, errorKind, handledAs = null, committedAt }: ActionOutcome,
): ToolExecuted {
  return {
    ...actionBody(source, outcome, action),
    outcome,
    result: payloadOrNull(result),
    prior_value: payloadOrNull(priorValue),
    external_transaction_ref: externalTransactionRef,
    error_kind: errorKind,
    handled_as: handledAs,
    committed_at: committedAt,
  };
}

/** Body of a CheckpointTaken. */
export function checkpointBody(source: string, { commitId, checkpoint }: ToldCheckpoint): CheckpointTaken {
  const { tenant, run_id } = checkpoint;
  return {
    event_id: deriveId('evt', source, tenant, run_id, commitId),
    tenant,
    run_id,
    commit_id: commitId,
    checkpoint,
  };
}

/** Body of a StateChunk. */
export function chunkBody(source: string, { tenant, runId, commitId, index, chunk }: ToldChunk): StateChunk {
  return {
    event_id: deriveId('evt', source, tenant, runId, commitId, index),
    tenant,
    run_id: runId,
    commit_id: commitId,
    index,
    chunk,
  };
}

function actionBody(source: string, told: string, action: Action): Omit<ToolPlanned, 'planned_at' | keyof Prepared> {
  return {
    event_id: deriveId('evt', source, action.tenant, action.runId, action.effectKey, told),
    tenant: action.tenant,
    run_id: action.runId,
    agent_id: action.agentId,
    initiator: action.initiator,
    objective: action.objective,
    step_id: action.stepId,
    call_id: action.callId,
    capability: action.capability,
    contract_digest: action.contractDigest,
    effect_key: action.effectKey,
    idempotency_key: action.idempotencyKey,
    subject_ref: action.subjectRef,
    args: markedPayload(action.args),
    assumption_refs: action.assumptionRefs,
    derived_from: (action.derivedFrom ?? []).map(({ runId, mutationId }) => ({ run_id: runId, commit_id: mutationId })),
    on_failure: action.onFailure ?? 'keep',
    produced_by: action.producedBy ?? null,
    release: action.release ?? null,
  };
}

/** Fields of an intent that tell how it was prepared. */
type Prepared = Pick<ToolPlanned, 'is_held' | 'prior_value' | 'rehearsal' | 'staged_ref'>;

function statementBody(
  speaker: string,
  type: string,
  { eventId, source = speaker, tenant, ref, runId, statement, statedAt }: Statement,
): Omit<AssumptionInvalidated, 'source_kind'> {
  const content = sha256Hex(canonicalJson([tenant, runId ?? null, statement]));
  return {
    event_id: eventId ?? deriveId('evt', source, type, ref, statedAt, content),
    tenant,
    ref,
    run_id: runId ?? null,
    source,
    statement: markedPayload(statement),
    stated_at: statedAt,
  };
}

const payloadOrNull = (value: Json | null): Payload | null => (value === null ? null : markedPayload(value));
