// Edges as PostgreSQL's COPY gives them, into the graph without a string a line.
//
// Grammar:
//   line = child "\t" parent "\n"       both in the text format of COPY, UTF-8
//
// Ids of mutations and of commits have a known length, so most lines end where their first bytes say; the others are looked through.
import type { LineageGraph } from './lineage-graph.js';
import { PlainIds, plainLengthOf } from './plain-ids.js';

const [TAB, LINE, ESCAPE] = [0x09, 0x0a, 0x5c];
/** Ids that are numbered together: enough to keep memory busy, few enough to stay near. */
const IDS_AHEAD = 256;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

interface Line {
  readonly start: number;
  readonly tab: number;
  readonly end: number;
  readonly isPlain: boolean;
}

/** Takes chunks as they come, wherever they were cut. */
export class EdgeLines {
  #rest: Uint8Array = new Uint8Array(0);
  #lines = 0;
  /** Children and parents of plain lines that are not in the graph yet; none between two chunks. */
  readonly #ahead = new PlainIds(IDS_AHEAD);

  constructor(private readonly graph: LineageGraph) {}

  /** Lines taken. */
  get lines(): number {
    return this.#lines;
  }

  take(chunk: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = this.#take(bytes, start); end >= 0; end = this.#take(bytes, start)) {
      this.#lines += 1;
      start = end + 1;
    }
    this.#flush();
    // What waits is a copy: the chunk belongs to whoever gave it.
    this.#rest = new Uint8Array(bytes.subarray(start));
  }

  /** Takes the line that begins somewhere and says where it ends; -1 where it ends in no chunk yet. */
  #take(bytes: Uint8Array, start: number): number {
    const end = this.#takePlain(bytes, start);
    return end >= 0 ? end : this.#takeAny(bytes, start);
  }

  /** As `#take`, of a line of two plain ids; -1 for another. */
  #takePlain(bytes: Uint8Array, start: number): number {
    if (start >= bytes.length) return -1;
    const tab = start + plainLengthOf(bytes[start] ?? 0);
    if (tab + 1 >= bytes.length || bytes[tab] !== TAB) return -1;
    const end = tab + 1 + plainLengthOf(bytes[tab + 1] ?? 0);
    if (end >= bytes.length || bytes[end] !== LINE) return -1;
    return this.#readAhead(bytes, { start, tab, end }) ? end : -1;
  }

  #readAhead(bytes: Uint8Array, { start, tab, end }: Omit<Line, 'isPlain'>): boolean {
    const ahead = this.#ahead;
    if (ahead.size === ahead.capacity) this.#flush();
    if (!ahead.read(bytes, start, tab)) return false;
    if (ahead.read(bytes, tab + 1, end)) return true;
    ahead.cut(ahead.size - 1);
    return false;
  }

  #flush(): void {
    this.graph.addAll(this.#ahead);
    this.#ahead.cut(0);
  }

  #takeAny(bytes: Uint8Array, start: number): number {
    let tab = -1;
    let isPlain = true;
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte > ESCAPE) continue;
      if (byte === TAB) tab = at;
      else if (byte === ESCAPE) isPlain = false;
      else if (byte === LINE) {
        this.#line(bytes, { start, tab, end: at, isPlain });
        return at;
      }
    }
    return -1;
  }

  #line(bytes: Uint8Array, { start, tab, end, isPlain }: Line): void {
    this.#flush();
    if (isPlain) this.graph.addBytes(bytes, start, tab, end);
    else this.graph.add(unescaped(bytes.subarray(start, tab)), [unescaped(bytes.subarray(tab + 1, end))]);
  }
}

function unescaped(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('utf8')
    .replaceAll(/\\(.)/gs, (_, after: string) => ESCAPES[after] ?? after);
}
