// Runs of the agent. Pure; the journal makes them durable, so that a run goes on after a crash under the same keys.
import type { GuardedResult } from '@recourse/sdk';

export interface RunRequest {
  readonly run_id: string;
  readonly order: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly capability: string;
  readonly initiator: string;
}

export interface Run extends RunRequest {
  /** Null while the run is under way. */
  readonly result: GuardedResult | null;
}

export type AgentState = Readonly<Record<string, Run>>;

export type AgentEvent =
  | { readonly type: 'RunStarted'; readonly request: RunRequest }
  | { readonly type: 'RunEnded'; readonly run_id: string; readonly result: GuardedResult };

export function evolveAgent(state: AgentState, event: AgentEvent): AgentState {
  if (event.type === 'RunStarted') return { ...state, [event.request.run_id]: { ...event.request, result: null } };
  const run = state[event.run_id];
  return run === undefined ? state : { ...state, [event.run_id]: { ...run, result: event.result } };
}

/** What the agent answers about a run: mutation ids, no handles. */
export function shownRun({ result, ...request }: Run): object {
  return {
    ...request,
    status: result === null ? 'running' : result.kind,
    mutation_ids: result?.mutation_refs ?? [],
    problems: result?.kind === 'refused' ? result.problems : [],
  };
}
