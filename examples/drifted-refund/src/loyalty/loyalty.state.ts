// What the loyalty service knows: points it granted because of refunds, and what it heard. Pure.
import { announcedIn, settledIn } from '@recourse/sdk';
import type { Notification } from '@recourse/sdk';

/** What a notification said of one commit; (partition, seq, index) identifies it. */
export interface Heard {
  readonly partition: number;
  readonly seq: number;
  /** Place of the commit among those of its notification, from 0. */
  readonly index: number;
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
  /** Commits that were rolled back: nothing is granted for them. */
  readonly fallen: readonly string[];
  readonly grants: Readonly<Record<string, Grant>>;
}

export type LoyaltyEvent =
  | { readonly type: 'PointsGranted'; readonly mutation_id: string; readonly order: string; readonly points: number }
  | { readonly type: 'CommitFell'; readonly mutation_id: string }
  | { readonly type: 'NotificationHeard'; readonly heard: Heard };

export const EMPTY_LOYALTY: LoyaltyState = { heard: [], fallen: [], grants: {} };

/** Rollbacks are authoritative: points of a commit that was rolled back are gone, also when they come late. */
export function evolveLoyalty(state: LoyaltyState, event: LoyaltyEvent): LoyaltyState {
  switch (event.type) {
    case 'PointsGranted':
      return granted(state, event);
    case 'CommitFell':
      return fell(state, event.mutation_id);
    case 'NotificationHeard':
      return { ...state, heard: [...state.heard, event.heard] };
  }
}

function granted(
  state: LoyaltyState,
  { mutation_id, order, points }: Extract<LoyaltyEvent, { type: 'PointsGranted' }>,
): LoyaltyState {
  const isFallen = state.fallen.includes(mutation_id);
  const grant: Grant = { mutation_id, order, points, state: isFallen ? 'withdrawn' : 'granted' };
  return { ...state, grants: { ...state.grants, [mutation_id]: grant } };
}

function fell(state: LoyaltyState, mutationId: string): LoyaltyState {
  const grant = state.grants[mutationId];
  const fallen = [...state.fallen, mutationId];
  if (grant === undefined) return { ...state, fallen };
  return { ...state, fallen, grants: { ...state.grants, [mutationId]: { ...grant, state: 'withdrawn' } } };
}

/** What a rollback leads to: nothing where it is known. */
export function fallOf(state: LoyaltyState, mutationId: string): readonly LoyaltyEvent[] {
  return state.fallen.includes(mutationId) ? [] : [{ type: 'CommitFell', mutation_id: mutationId }];
}

/** What a notification says, commit by commit. */
export function heardIn(notification: Notification): readonly Heard[] {
  const { type, partition, seq } = notification;
  return namedIn(notification).map(({ run_id, mutation_id, ...about }, index) => ({
    partition,
    seq,
    index,
    type,
    run_id,
    mutation_id,
    rollback_id: about.rollback_id ?? null,
    recoverability: about.recoverability ?? null,
    reason: about.reason ?? null,
  }));
}

interface NamedCommit {
  readonly run_id: string;
  readonly mutation_id: string;
  readonly rollback_id?: string;
  readonly recoverability?: string;
  readonly reason?: string | null;
}

function namedIn({ type, body }: Notification): readonly NamedCommit[] {
  if (type === 'RollbackAnnounced') return announcedIn(body);
  return type === 'RollbackSettled' ? settledIn(body) : [body];
}

/** Those that were not heard yet. */
export function newIn(state: LoyaltyState, told: readonly Heard[]): readonly Heard[] {
  return told.filter((one) => !state.heard.some((heard) => isSame(heard, one)));
}

function isSame(one: Heard, other: Heard): boolean {
  return one.partition === other.partition && one.seq === other.seq && one.index === other.index;
}
