// Reads for people: what a service's projection holds, a page at a time.
import type { ColumnValue, Row } from '@recourse/event-log';

export interface PagePosition {
  readonly partition: number;
  readonly group: string;
  readonly key: string;
}

export interface PageQuery {
  /** Topic of the log the kind belongs to. */
  readonly log: string;
  readonly kind: string;
  /** Equal to, or one of, per declared column (or `group_key`, `row_key`). */
  readonly where: Readonly<Record<string, ColumnValue | readonly string[]>>;
  readonly after?: PagePosition | undefined;
  /** Rows at most. */
  readonly limit: number;
  /** A thing that a request is about, by its name: it is looked for by connections that no list takes. */
  readonly isOne?: true;
}

export interface PlacedRow extends Row {
  readonly partition: number;
}

export interface Page {
  readonly rows: readonly PlacedRow[];
  /** Where the next page starts; null on the last. */
  readonly next: PagePosition | null;
}

/**
 * Implementations MUST order pages by partition, group and key, so that a page never repeats a row.
 * Errors: Failure(DATABASE_UNAVAILABLE, READ_TOO_LONG, READS_BUSY).
 */
export interface ProjectionReads {
  page(query: PageQuery): Promise<Page>;
  /** Rows that a list of these would have. */
  count(query: Pick<PageQuery, 'log' | 'kind' | 'where'>): Promise<number>;
  /** Row of kind `command`, or null as long as it is not projected. */
  commandRow(log: string, commandId: string): Promise<PlacedRow | null>;
}
