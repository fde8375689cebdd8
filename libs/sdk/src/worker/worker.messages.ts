// What a worker needs, what it says of itself, and how it is started and stopped.
import type { Kafka } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import type { Entries } from '../entries/entries.port.js';
import type { ForwardTool } from '../guard/guard.messages.js';
import type { ClaimStore } from '../stores/claim-store.port.js';
import type { PositionStore } from '../stores/position-store.port.js';
import type { Tool } from '../tool/tool.js';
import type { MayGoOn } from './may-go-on.js';
import type { OnSpan } from './spans.js';

/** How a step ended, and what is known of why: kind and words of its error, null where there was none. */
export interface AnsweredStep {
  readonly stepId: string;
  readonly outcome: string;
  readonly errorKind: string | null;
  readonly detail: string | null;
}

/** What a worker says about itself; for logs and health, never for decisions. */
export type WorkerNote =
  | { readonly type: 'assigned'; readonly partitions: readonly number[] }
  | {
      readonly type: 'answered';
      readonly legId: string;
      readonly runId: string;
      readonly steps: readonly AnsweredStep[];
    }
  | {
      readonly type: 'held_back';
      readonly legId: string;
      readonly runId: string;
      readonly stepId: string;
      readonly reason: string;
    }
  | { readonly type: 'unreadable'; readonly partition: number; readonly offset: number; readonly reason: string }
  | { readonly type: 'refused'; readonly partition: number; readonly offset: number; readonly reason: string }
  | { readonly type: 'trouble'; readonly doing: string; readonly cause: unknown };

/** What a worker needs. */
export interface WorkerOptions {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  /** Prefix of the capabilities, and end of the request topic's name. */
  readonly adapter: string;
  /** By capability. */
  readonly tools: Readonly<Record<string, Tool>>;
  /** Forward tools by capability, the same that an agent gives to a guard: effects that a contract holds are let go through these. */
  readonly forwardTools?: Readonly<Record<string, ForwardTool>>;
  readonly clock: Clock;
  readonly claimStore: ClaimStore;
  readonly positions: PositionStore;
  readonly workerId: string;
  readonly groupId: string;
  /** Observes what other workers did, and acts on nothing: it needs a key that speaks as `observer`, and a group of its own. */
  readonly isObserver?: boolean;
  /** Longest a call may take here, in milliseconds; a step may ask for less. */
  readonly callTimeoutMs: number;
  /** The registry, as cachedEntries reads it: a kill switch stops a leg before its next step; unread, none is begun. */
  readonly entries?: Entries;
  /** Asked before each step; a no, or an error, ends the leg there. */
  readonly mayGoOn?: MayGoOn;
  /** How often a slow leg tells how far it has come, in milliseconds. Default 250. */
  readonly progressEveryMs?: number;
  /** Runs that may be worked on at once. Default 32. */
  readonly concurrencyMax?: number;
  readonly registerSchemas?: boolean;
  /** A listener that throws, or fails later, stops nothing. */
  readonly onNote?: (note: WorkerNote) => void;
  /** Takes a span for each call of a tool whose request names its place in a trace; see `spanFile`. */
  readonly onSpan?: OnSpan;
}

/** A worker under way. */
export interface Worker {
  /** Resolves when the worker has joined its group. Errors: those of the ports. */
  start(): Promise<void>;
  /** Leaves the group. No leg under way begins another step; it ends unanswered and is asked again. */
  stop(): Promise<void>;
  isReady(): boolean;
}
