// What the loyalty service knows: points it granted because of refunds, and what it heard. Pure.
import type { Notification } from '@recourse/sdk';

/** A notification as it was heard; (partition, seq) identifies it. */
export interface Heard {
  readonly partition: number;
  readonly seq: number;
  readonly type: Notification['type'];
  readonly run_id: string;
  readonly mutation_id: string;
  readonly rollback_id: string | null;
  /** State the effect came to rest in; of RollbackSettled only. */
  readonly recoverability: string | null;
  readonly reason: string | null;
}

export interface Grant {
  readonly mutation_id: string;
  readonly order: string;
  readonly points: number;
  readonly state: 'granted' | 'withdrawn';
}

export interface LoyaltyState {
  readonly heard: readonly Heard[];
  readonly grants: Readonly<Record<string, Grant>>;
}

export type LoyaltyEvent =
  | { readonly type: 'PointsGranted'; readonly mutation_id: string; readonly order: string; readonly points: number }
  | { readonly type: 'NotificationHeard'; readonly heard: Heard };

export const EMPTY_LOYALTY: LoyaltyState = { heard: [], grants: {} };

/** Rollbacks are authoritative: points of a commit that was rolled back are gone, also when they come late. */
export function evolveLoyalty(state: LoyaltyState, event: LoyaltyEvent): LoyaltyState {
  if (event.type === 'PointsGranted') {
    const { mutation_id, order, points } = event;
    const isRolledBack = state.heard.some(
      (heard) => heard.type === 'RollbackAnnounced' && heard.mutation_id === mutation_id,
    );
    return {
      ...state,
      grants: {
        ...state.grants,
        [mutation_id]: { mutation_id, order, points, state: isRolledBack ? 'withdrawn' : 'granted' },
      },
    };
  }
  const { heard } = event;
  const grant = state.grants[heard.mutation_id];
  const isFallen = heard.type === 'RollbackAnnounced' && grant !== undefined;
  return {
    heard: [...state.heard, heard],
    grants: isFallen ? { ...state.grants, [heard.mutation_id]: { ...grant, state: 'withdrawn' } } : state.grants,
  };
}

export function heardOf({ type, body, partition, seq }: Notification): Heard {
  return {
    partition,
    seq,
    type,
    run_id: body.run_id,
    mutation_id: body.mutation_id,
    rollback_id: 'rollback_id' in body ? body.rollback_id : null,
    recoverability: 'recoverability' in body ? body.recoverability : null,
    reason: 'reason' in body ? body.reason : null,
  };
}

export function wasHeard(state: LoyaltyState, { partition, seq }: Pick<Heard, 'partition' | 'seq'>): boolean {
  return state.heard.some((heard) => heard.partition === partition && heard.seq === seq);
}
