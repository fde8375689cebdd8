// Consumers of rollbacks that a world can have: what each subscribes to, how it reads, and when it comes and goes.
import type { MemoryInbox } from '@recourse/sdk';
import type { SubscriptionMode } from '@recourse/messages';

export interface SubscriptionPlan {
  readonly name: string;
  /** Tenant it is registered for; `*` for all. */
  readonly tenant: string;
  readonly scope: string;
  readonly mode: SubscriptionMode;
}

export interface ConsumerPlan {
  readonly name: string;
  readonly subscriptions: readonly SubscriptionPlan[];
  /** How its process reads; null for one that never answers. */
  readonly reads: {
    readonly scope: string;
    readonly mode: SubscriptionMode;
    readonly from: 'beginning' | 'now';
  } | null;
  /** When it subscribes, when its process first starts, and when it is taken away, milliseconds of the story; null for never. */
  readonly subscribesAtMs: number;
  readonly startsAtMs: number;
  readonly leavesAtMs: number | null;
}

/** A barrier that opened: what was on record when it was asked for, and what had been noted when it opened. */
export interface Opened {
  readonly askedAtOrder: number;
  readonly noted: number;
}

/** What outlives the processes of a consumer. */
export interface ConsumerRecord {
  readonly plan: ConsumerPlan;
  readonly inbox: MemoryInbox;
  readonly opened: Opened[];
  /** A process of it runs, or comes back. */
  isMeantToRun: boolean;
}

/** What a consumer noted, in the transaction in which it was so. */
export type Note =
  | { readonly kind: 'commit'; readonly run: string; readonly commit: string }
  | {
      readonly kind: 'rollback';
      readonly run: string;
      readonly commit: string;
      readonly rollback: string;
      readonly derived: readonly string[];
      readonly emissions: readonly string[];
    }
  | { readonly kind: 'derived'; readonly commit: string; readonly parents: readonly string[] }
  | { readonly kind: 'emitted'; readonly commit: string; readonly ref: string };

/** Notes a thing behind all that was noted before. */
export function note(rows: Map<string, string>, what: Note): void {
  rows.set(String(rows.size), JSON.stringify(what));
}

/** All that was noted, in order. */
export function notesOf(rows: ReadonlyMap<string, string>): readonly Note[] {
  return [...rows.values()].map((row) => JSON.parse(row) as Note);
} // `note` wrote them

const START = { subscribesAtMs: 0, startsAtMs: 0, leavesAtMs: null } as const;

/** Those there are. A world takes some of them; instants are of the story's first seconds. */
export const CONSUMER_PLANS: readonly ConsumerPlan[] = [
  {
    name: 'mirror',
    ...START,
    subscriptions: [own('mirror', 'acme', 'acme', 'sync')],
    reads: { scope: 'acme', mode: 'sync', from: 'beginning' },
  },
  {
    name: 'sweep',
    ...START,
    subscriptions: [own('sweep', 'beta', 'beta', 'poll')],
    reads: { scope: 'beta', mode: 'poll', from: 'beginning' },
  },
  // Subscribed in the middle; its process comes later still, and begins with what it is waited for.
  {
    name: 'late',
    subscribesAtMs: 6_000,
    startsAtMs: 9_000,
    leavesAtMs: null,
    subscriptions: [own('late', 'beta', 'beta', 'async')],
    reads: { scope: 'beta', mode: 'async', from: 'now' },
  },
  {
    name: 'gone',
    ...START,
    leavesAtMs: 8_000,
    subscriptions: [own('gone', 'acme', 'acme/agent:a1', 'async')],
    reads: { scope: 'acme/agent:a1', mode: 'async', from: 'beginning' },
  },
  // Of all tenants, and subscribed twice: the stricter mode counts where both cover a commit.
  {
    name: 'audit',
    ...START,
    subscriptions: [own('audit-two', '*', '*/agent:a2', 'poll'), own('audit-run', '*', '*/*/acme-run-2', 'sync')],
    reads: { scope: '*', mode: 'async', from: 'beginning' },
  },
  {
    name: 'subject',
    ...START,
    subscriptions: [own('subject', 'acme', 'acme/*/*/shop', 'async')],
    reads: { scope: 'acme/*/*/shop', mode: 'async', from: 'now' },
  },
  // Never answers; comes and goes with the stories.
  {
    name: 'silent',
    subscribesAtMs: 3_000,
    startsAtMs: 0,
    leavesAtMs: null,
    subscriptions: [own('silent', 'beta', 'beta/*/beta-run-1', 'async')],
    reads: null,
  },
];

function own(name: string, tenant: string, scope: string, mode: SubscriptionMode): SubscriptionPlan {
  return { name, tenant, scope, mode };
}
