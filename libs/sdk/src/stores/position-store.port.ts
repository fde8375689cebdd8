// How far a reader outside the services has come.

/** Position in one partition. `seq` and `hash` are the head of the chain there; 0 and '' for a wire. */
export interface Position {
  /** Offset of the next record to be read. */
  readonly offset: number;
  readonly seq: number;
  /** Hex. */
  readonly hash: string;
  /** Offset of the record that is the head; absent for a wire, before the first, and where it was kept before this was. */
  readonly record?: number;
}

/**
 * Keeps positions by `topic/partition`.
 *
 * Implementations MUST make a position durable before `save` resolves, whole or not at all.
 */
export interface PositionStore {
  load(topic: string, partition: number): Promise<Position | null>;
  save(topic: string, partition: number, position: Position): Promise<void>;
}
