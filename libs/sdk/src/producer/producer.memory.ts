// A producer in memory: keeps what it is told, in order. For specs and first steps.
import type { ExecutionState, RecoverabilityState } from '@recourse/messages';
import { mutationId } from '../effect-key.js';
import type { Action, ActionOutcome, Preparation, Producer, Statement, ToldChunk, ToldCheckpoint } from './producer.js';

/** One thing a producer was told. */
export type Told =
  | {
      readonly type: 'ToolPlanned';
      readonly action: Action;
      readonly plannedAt: number;
      readonly preparation?: Preparation;
    }
  | { readonly type: 'ToolExecuted'; readonly action: Action; readonly outcome: ActionOutcome }
  | { readonly type: 'CheckpointTaken'; readonly taken: ToldCheckpoint }
  | { readonly type: 'StateChunk'; readonly chunk: ToldChunk }
  | {
      readonly type: 'AssumptionDeclared' | 'AssumptionInvalidated' | 'AssumptionReaffirmed';
      readonly statement: Statement;
    };

/** A record of effects that follows what is told at once, as the ledger would in its own time; a `MemoryStanding` is one. */
export interface Follower {
  record(mutationId: string, execution: ExecutionState, recoverability: RecoverabilityState): void;
}

/** A producer that keeps what it is told, in order. For specs and first steps. */
export class MemoryProducer implements Producer {
  private readonly events: Told[] = [];

  constructor(private readonly standing?: Follower) {}

  /** Everything told so far. */
  get told(): readonly Told[] {
    return this.events;
  }

  toolPlanned(action: Action, plannedAt: number, preparation?: Preparation): Promise<string> {
    this.standing?.record(mutationId(action.tenant, action.runId, action.effectKey), 'planned', 'planned');
    return this.keep({ type: 'ToolPlanned', action, plannedAt, ...(preparation === undefined ? {} : { preparation }) });
  }

  toolExecuted(action: Action, outcome: ActionOutcome): Promise<string> {
    this.standing?.record(
      mutationId(action.tenant, action.runId, action.effectKey),
      outcome.outcome,
      outcome.outcome === 'succeeded' ? 'committed' : 'planned',
    );
    return this.keep({ type: 'ToolExecuted', action, outcome });
  }

  checkpointTaken(taken: ToldCheckpoint): Promise<string> {
    return this.keep({ type: 'CheckpointTaken', taken });
  }
  stateChunk(chunk: ToldChunk): Promise<string> {
    return this.keep({ type: 'StateChunk', chunk });
  }
  assumptionDeclared(statement: Statement): Promise<string> {
    return this.keep({ type: 'AssumptionDeclared', statement });
  }
  assumptionInvalidated(statement: Statement): Promise<string> {
    return this.keep({ type: 'AssumptionInvalidated', statement });
  }
  assumptionReaffirmed(statement: Statement): Promise<string> {
    return this.keep({ type: 'AssumptionReaffirmed', statement });
  }
  close(): Promise<void> {
    return Promise.resolve();
  }

  private keep(event: Told): Promise<string> {
    this.events.push(event);
    return Promise.resolve(`evt_${String(this.events.length)}`);
  }
}
