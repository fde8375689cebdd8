// A file of lines that several processes of one host append to and read, for claims.
//
// Invariants
//   J1. A write is added as a whole behind all that is there (O_APPEND), begins on a line of its own and ends its last one. So a
//       line that was torn by a crash or a full disk spoils none that comes later.
//   J2. `append` resolves once the lines are on disk in the file that bears the name now: who replaced or removed it hears an error.
//   J3. What `readOn` gives is every whole line since the last time, in the order of the file, whoever wrote it.
import { close, fdatasync, fstat, open, read, write } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { syncDirectory } from './durable-file.js';

const [closing, forcing, looking] = [promisify(close), promisify(fdatasync), promisify(fstat)];
const [opening, reading, writing] = [promisify(open), promisify(read), promisify(write)];

/** Bytes read at once; a line that is longer is read in one piece all the same. */
const CHUNK_BYTES = 65_536;
const LINE_END = 0x0a;

/** One process's hold on such a file. Errors: those of the file system; after one it is to be closed and opened anew. */
export class ClaimJournal {
  private position = 0;
  private buffer = Buffer.allocUnsafe(CHUNK_BYTES);

  private constructor(
    private readonly path: string,
    private readonly file: number,
  ) {}

  static async open(path: string): Promise<ClaimJournal> {
    const directory = dirname(path);
    await mkdir(directory, { recursive: true });
    const file = await opening(path, 'a+');
    await syncDirectory(directory);
    await syncDirectory(dirname(directory));
    return new ClaimJournal(path, file);
  }

  /** Adds lines, each without its end, and forces them to disk. */
  async append(lines: readonly string[]): Promise<void> {
    const bytes = Buffer.from(`\n${lines.join('\n')}\n`, 'utf8');
    const { bytesWritten } = await writing(this.file, bytes, 0, bytes.length, null);
    if (bytesWritten !== bytes.length) throw new Error(`the journal ${this.path} took a part of the lines`);
    const [own, named] = await Promise.all([looking(this.file), stat(this.path), forcing(this.file)]);
    if (own.ino !== named.ino || own.dev !== named.dev) throw new Error(`the journal ${this.path} was replaced`);
    if (own.size < this.position) throw new Error(`the journal ${this.path} was cut`);
  }

  /** Gives the lines that came since the last time; one whose end is not there yet comes the next time. */
  async readOn(take: (line: string) => void): Promise<void> {
    for (let isMore = true; isMore;) {
      const { bytesRead } = await reading(this.file, this.buffer, 0, this.buffer.length, this.position);
      const end = this.buffer.subarray(0, bytesRead).lastIndexOf(LINE_END);
      if (end >= 0) this.linesTo(end).forEach(take);
      isMore = bytesRead === this.buffer.length;
      this.position += end + 1;
      if (isMore && end < 0) this.buffer = Buffer.allocUnsafe(this.buffer.length * 2);
    }
  }

  private linesTo(end: number): readonly string[] {
    return this.buffer
      .toString('utf8', 0, end)
      .split('\n')
      .filter((line) => line !== '');
  }

  close(): Promise<void> {
    return closing(this.file);
  }
}
