// Edges as PostgreSQL's COPY gives them, into the graph without a string a line.
//
// Grammar:
//   line = child "\t" parent "\n"       both in the text format of COPY, UTF-8
import type { LineageGraph } from './lineage-graph.js';

const [TAB, LINE, ESCAPE] = [0x09, 0x0a, 0x5c];
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

interface Line { readonly start: number; readonly tab: number; readonly end: number; readonly isPlain: boolean }

/** Takes chunks as they come, wherever they were cut. */
export class EdgeLines {
  #rest: Uint8Array = new Uint8Array(0);
  #lines = 0;

  constructor(private readonly graph: LineageGraph) {}

  /** Lines taken. */
  get lines(): number { return this.#lines; }

  take(chunk: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    let tab = -1;
    let isPlain = true;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte > ESCAPE) continue;
      if (byte === TAB) tab = at;
      else if (byte === ESCAPE) isPlain = false;
      else if (byte === LINE) {
        this.#line(bytes, { start, tab, end: at, isPlain });
        start = at + 1;
        isPlain = true;
      }
    }
    // What waits is a copy: the chunk belongs to whoever gave it.
    this.#rest = new Uint8Array(bytes.subarray(start));
  }

  #line(bytes: Uint8Array, { start, tab, end, isPlain }: Line): void {
    this.#lines += 1;
    if (isPlain) this.graph.addBytes(bytes, start, tab, end);
    else this.graph.add(unescaped(bytes.subarray(start, tab)), [unescaped(bytes.subarray(tab + 1, end))]);
  }
}

function unescaped(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8').replaceAll(/\\(.)/gs, (_, after: string) => ESCAPES[after] ?? after);
}
