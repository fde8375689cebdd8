// Where a stored tree keeps its nodes: every 8th level of complete subtrees, 32 octets each, in the order of their places.
//
// Grammar of a folder:
//   <name>.t0, <name>.t1 …   ; leaves, roots of 256 leaves, of 65,536 …; nothing but hashes
import { closeSync, ftruncateSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { HASH_SIZE } from '@recourse/chain';

/** Nodes of one tree by tier; tier t holds the roots of 256^t leaves. */
export interface NodeStore {
  count(tier: number): number;
  append(tier: number, node: Buffer): void;
  /** `many` nodes from an index, one behind the other. Errors: RangeError when there are not so many. */
  read(tier: number, index: number, many: number): Buffer;
  truncate(tier: number, count: number): void;
  close(): void;
}

/** Writes octets at a place of a file; answers how many, which on a full disk are fewer. Errors: those of the disk. */
export type WriteAt = (file: number, bytes: Buffer, position: number) => number;
const writeAt: WriteAt = (file, bytes, position) => writeSync(file, bytes, 0, bytes.length, position);

/** Nodes that are written at once. */
const PENDING_NODES = 2_048;

export class NodeList implements NodeStore {
  readonly #tiers: Buffer[][] = [];

  count(tier: number): number {
    return this.#tiers[tier]?.length ?? 0;
  }

  append(tier: number, node: Buffer): void {
    (this.#tiers[tier] ??= []).push(Buffer.from(node));
  }

  read(tier: number, index: number, many: number): Buffer {
    const nodes = (this.#tiers[tier] ?? []).slice(index, index + many);
    if (nodes.length < many) throw new RangeError(`no ${many} nodes at ${index} of tier ${tier}`);
    return Buffer.concat(nodes);
  }

  truncate(tier: number, count: number): void {
    this.#tiers[tier]?.splice(count);
  }

  close(): void {
    this.#tiers.length = 0;
  }
}

/** One tier in its file. What was appended and not written yet is read from memory's place in it. */
class TierFile {
  readonly #file: number;
  readonly #pending = Buffer.alloc(PENDING_NODES * HASH_SIZE);
  #pendingCount = 0;
  #written: number;

  constructor(
    path: string,
    private readonly write: WriteAt,
  ) {
    this.#file = openSync(path, openMode(path));
    // A kill between two writes leaves part of a node at the most.
    this.#written = Math.floor(fstatSync(this.#file).size / HASH_SIZE);
  }

  get count(): number {
    return this.#written + this.#pendingCount;
  }

  /** What cannot be written is not appended, and what was before it stays pending. */
  append(node: Buffer): void {
    if (this.#pendingCount === PENDING_NODES) this.flush();
    this.#pending.set(node, this.#pendingCount * HASH_SIZE);
    this.#pendingCount += 1;
  }

  flush(): void {
    if (this.#pendingCount === 0) return;
    const bytes = this.#pendingCount * HASH_SIZE;
    const at = this.#written * HASH_SIZE;
    for (let done = 0; done < bytes;) done += this.write(this.#file, this.#pending.subarray(done, bytes), at + done);
    this.#written += this.#pendingCount;
    this.#pendingCount = 0;
  }

  read(index: number, many: number): Buffer {
    if (index + many > this.#written) this.flush();
    if (index < 0 || index + many > this.#written) throw new RangeError(`no ${many} nodes at ${index}`);
    const bytes = Buffer.alloc(many * HASH_SIZE);
    readSync(this.#file, bytes, 0, bytes.length, index * HASH_SIZE);
    return bytes;
  }

  truncate(count: number): void {
    this.flush();
    ftruncateSync(this.#file, count * HASH_SIZE);
    this.#written = Math.min(this.#written, count);
  }

  close(): void {
    this.flush();
    closeSync(this.#file);
  }
}

/** Reads and writes, and makes the file where it is not there. */
function openMode(path: string): string {
  closeSync(openSync(path, 'a', 0o600));
  return 'r+';
}

export class NodeFiles implements NodeStore {
  readonly #tiers: TierFile[] = [];

  constructor(
    private readonly folder: string,
    private readonly name: string,
    private readonly write: WriteAt = writeAt,
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  count(tier: number): number {
    return this.#tier(tier).count;
  }

  append(tier: number, node: Buffer): void {
    this.#tier(tier).append(node);
  }

  read(tier: number, index: number, many: number): Buffer {
    return this.#tier(tier).read(index, many);
  }

  truncate(tier: number, count: number): void {
    this.#tier(tier).truncate(count);
  }

  /** Writes what is pending. */
  flush(): void {
    for (const tier of this.#tiers) tier.flush();
  }

  close(): void {
    for (const tier of this.#tiers.splice(0)) tier.close();
  }

  #tier(tier: number): TierFile {
    for (let next = this.#tiers.length; next <= tier; next += 1)
      this.#tiers.push(new TierFile(join(this.folder, `${this.name}.t${next}`), this.write));
    const file = this.#tiers[tier];
    if (file === undefined) throw new RangeError(`no tier ${tier}`);
    return file;
  }
}
