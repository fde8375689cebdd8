// Positions in memory: as durable as the object that holds them.
import type { Position, PositionStore } from './position-store.port.js';

/** Positions in memory: they end with the process. For specs. */
export class MemoryPositionStore implements PositionStore {
  private readonly positions = new Map<string, Position>();

  load(topic: string, partition: number): Promise<Position | null> {
    return Promise.resolve(this.positions.get(`${topic}/${String(partition)}`) ?? null);
  }

  save(topic: string, partition: number, position: Position): Promise<void> {
    this.positions.set(`${topic}/${String(partition)}`, position);
    return Promise.resolve();
  }
}
