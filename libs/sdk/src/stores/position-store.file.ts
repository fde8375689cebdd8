// Positions as files of one directory, one per partition.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failedWith, replaceFile } from './durable-file.js';
import type { Position, PositionStore } from './position-store.port.js';

/** Positions in a file of one host, durable before they are confirmed. */
export class FilePositionStore implements PositionStore {
  private readonly saving = new Map<string, Promise<void>>();

  constructor(private readonly directory: string) {}

  async load(topic: string, partition: number): Promise<Position | null> {
    const text = await readFile(this.pathOf(topic, partition), 'utf8').catch((error: unknown) => {
      if (failedWith('ENOENT', error)) return null;
      throw error;
    });
    // We wrote this file, whole: see replaceFile.
    return text === null ? null : JSON.parse(text) as Position;
  }

  save(topic: string, partition: number, position: Position): Promise<void> {
    const path = this.pathOf(topic, partition);
    const before = this.saving.get(path) ?? Promise.resolve();
    const saved = before.catch(() => undefined).then(() => replaceFile(path, `${JSON.stringify(position)}\n`));
    this.saving.set(path, saved);
    return saved;
  }

  private pathOf(topic: string, partition: number): string {
    return join(this.directory, `${topic}-${String(partition)}.json`);
  }
}
