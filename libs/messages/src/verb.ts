// What a command asks of people: its route, its fields, its line on the command line (scripts/generate/verbs.mjs).
import type { TopicName } from './generated/topics.js';

export interface VerbField {
  readonly name: string;
  readonly doc: string;
  readonly kind: 'text' | 'flag' | 'number' | 'instant' | 'enum' | 'json' | 'money' | 'moneys' | 'hash';
  /** Of an enum. */
  readonly values?: readonly string[];
  readonly nullable: boolean;
  /** Longest text, characters; of a text that is no id. */
  readonly max?: number;
  /** Least number, where that is not 0. */
  readonly min?: number;
  /** What it is over HTTP where nobody says it. */
  readonly default?: unknown;
  /** Its option on the command line, such as `--runbook <url>`, and what that is where nobody says it. */
  readonly option?: string;
  readonly preset?: string;
  /** Its help on the command line, where that is not its doc. */
  readonly says?: string;
}

export interface Verb {
  /** Full record name. */
  readonly type: string;
  readonly topic: TopicName;
  /** Method and path below the root: `POST v1/steps/:id/retry`. */
  readonly route: string;
  /** HTTP status of its acceptance. Default 200. */
  readonly status?: number;
  readonly summary: string;
  /** Field that `:id` is. */
  readonly id?: string;
  /** Column of the row that `:id` is, where the record has no such field. */
  readonly of?: string;
  /** Fields that the row of `:id` gives. */
  readonly found?: readonly string[];
  /** Fields that the route itself says. */
  readonly sets?: Readonly<Record<string, unknown>>;
  /** Phases of the thing in which a person is offered it; never, without. */
  readonly offered?: readonly string[];
  /** What has to be there for it to be offered; `window`: a compensation, and time for it. */
  readonly needs?: 'facts' | 'compensation' | 'window';
  /** Command line: `recoveries retry`, and its help. */
  readonly command?: string;
  readonly says?: string;
  readonly fields: readonly VerbField[];
}
