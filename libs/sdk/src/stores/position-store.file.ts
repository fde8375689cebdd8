// Positions as files of one directory, one per partition.
//
// Invariants
//   I1. A save resolves once its position, or a later one of the same partition, is on disk.
//   I2. One file is written once at a time; what is saved meanwhile is written together, the newest alone. A disk that takes
//       its time so holds up nobody longer than two writes, however many legs end at once.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failedWith, replaceFile } from './durable-file.js';
import type { Position, PositionStore } from './position-store.port.js';

/** A write that has not begun: whoever saves meanwhile puts a newer position into it. */
interface NextWrite {
  newest: Position;
  readonly done: Promise<void>;
}
interface Writing {
  readonly current: Promise<void>;
  next: NextWrite | null;
}

/** Positions in a file of one host, durable before they are confirmed. */
export class FilePositionStore implements PositionStore {
  private readonly writing = new Map<string, Writing>();

  constructor(private readonly directory: string) {}

  async load(topic: string, partition: number): Promise<Position | null> {
    const text = await readFile(this.pathOf(topic, partition), 'utf8').catch((error: unknown) => {
      if (failedWith('ENOENT', error)) return null;
      throw error;
    });
    // We wrote this file, whole: see replaceFile.
    return text === null ? null : (JSON.parse(text) as Position);
  }

  save(topic: string, partition: number, position: Position): Promise<void> {
    const path = this.pathOf(topic, partition);
    const under = this.writing.get(path);
    if (under === undefined) return this.write(path, position);
    if (under.next !== null) {
      under.next.newest = position;
      return under.next.done;
    }
    const next: NextWrite = {
      newest: position,
      done: under.current.catch(() => undefined).then(() => this.write(path, next.newest)),
    };
    under.next = next;
    return next.done;
  }

  private async write(path: string, position: Position): Promise<void> {
    const writing: Writing = { current: replaceFile(path, `${JSON.stringify(position)}\n`), next: null };
    this.writing.set(path, writing);
    try {
      await writing.current;
    } finally {
      // With a next one the entry is that one's to replace.
      if (writing.next === null) this.writing.delete(path);
    }
  }

  private pathOf(topic: string, partition: number): string {
    return join(this.directory, `${topic}-${String(partition)}.json`);
  }
}
