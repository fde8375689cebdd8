// A receiver of webhooks that keeps what it got, and answers as it is told to.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Facts } from './system.testing.js';

export interface Heard {
  readonly at: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Facts;
  readonly status: number;
}

export class Receiver {
  readonly heard: Heard[] = [];
  answer: (count: number) => number | null = () => 200;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request
        .on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8');
        })
        .on('end', () => {
          const status = this.answer(this.heard.length);
          this.heard.push({
            at: Date.now(),
            headers: request.headers,
            text,
            body: JSON.parse(text) as Facts,
            status: status ?? 0,
          }); // every webhook is a JSON object
          if (status !== null) response.writeHead(status).end();
        });
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/hook`; // it listens on TCP
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** What was said about the steps of a run, in order. */
  about(run: string): readonly Heard[] {
    return this.heard.filter(({ text }) => text.includes(run));
  }
}
