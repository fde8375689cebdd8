// Positions as files of one directory, one per partition.
//
// Invariants
//   I1. A save resolves once its position, or a later one of the same partition, is on disk.
//   I2. One file is written once at a time; what is saved meanwhile is written together, the newest alone. A disk that takes
//       its time so holds up nobody longer than two writes, however many legs end at once.
//   I3. A file that holds no position is no beginning: whoever follows a log would hear all of it anew, unasked.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonIn } from '@recourse/kernel';
import { z } from 'zod';
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

/** A file that others than us have written. */
class PositionUnreadable extends Error {
  override readonly name = 'PositionUnreadable';
  readonly code = 'POSITION_UNREADABLE';

  constructor(path: string) {
    super(
      `${path} holds no position. Put it back from a copy, or remove it: reading goes on from the start then, and what was heard comes again`,
    );
  }
}

const place = z.int().nonnegative();
const stored = z.object({ offset: place, seq: place, hash: z.string(), record: place.optional() });

/** We write these files whole (see replaceFile), and others have hands too. */
function positionIn(text: string, path: string): Position {
  const { data } = stored.safeParse(jsonIn(text));
  if (data === undefined) throw new PositionUnreadable(path);
  const { record, ...rest } = data;
  return record === undefined ? rest : { ...rest, record };
}

/** Positions in a file of one host, durable before they are confirmed. */
export class FilePositionStore implements PositionStore {
  private readonly writing = new Map<string, Writing>();

  constructor(private readonly directory: string) {}

  /** Errors: PositionUnreadable; those of the file system. */
  async load(topic: string, partition: number): Promise<Position | null> {
    const text = await readFile(this.pathOf(topic, partition), 'utf8').catch((error: unknown) => {
      if (failedWith('ENOENT', error)) return null;
      throw error;
    });
    return text === null ? null : positionIn(text, this.pathOf(topic, partition));
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
