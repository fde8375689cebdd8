// A TCP proxy that misbehaves on request: for specs and crash runs, between a client and a broker or a database.
//
// Invariants
//   I1. Bytes are never reordered. A connection that lost bytes does not survive the return to `pass`.
//   I2. What `freeze` holds back arrives after `pass`: that is how a packet gets late.
import net from 'node:net';

/**
 * What the proxy does with what it gets.
 *
 * Shape:  `pass`          forwards, after `delayMs` when one is set.
 *         `drop_answers`  forwards requests, discards answers.
 *         `hold_answers`  passes requests on and holds back what is answered.
 *         `freeze`        keeps connections open and forwards nothing (half-open): requests wait inside.
 */
export type ProxyMode = 'pass' | 'drop_answers' | 'hold_answers' | 'freeze';

export interface TcpProxy {
  readonly port: number;
  /** `host:port` for clients. */
  readonly address: string;
  readonly connectionCount: number;
  /** Bytes discarded by `drop_answers` so far. */
  readonly droppedBytes: number;
  setMode(mode: ProxyMode): void;
  /** Holds every chunk for this long, in milliseconds; 0 turns it off. */
  setDelay(delayMs: number): void;
  /** While refusing, a new connection is reset at once. */
  setRefusing(refusing: boolean): void;
  /** Resets all connections. */
  cut(): void;
  close(): Promise<void>;
}

interface Link {
  readonly client: net.Socket;
  readonly server: net.Socket;
  lossy: boolean;
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const proxy = new Proxying(target);
  await proxy.listen();
  return proxy;
}

class Proxying implements TcpProxy {
  port = 0;
  droppedBytes = 0;
  private readonly links = new Set<Link>();
  private readonly listener: net.Server;
  private mode: ProxyMode = 'pass';
  private delayMs = 0;
  private refusing = false;

  constructor(private readonly target: { readonly host: string; readonly port: number }) {
    this.listener = net.createServer((client) => {
      this.accept(client);
    });
  }

  get address(): string {
    return `127.0.0.1:${String(this.port)}`;
  }
  get connectionCount(): number {
    return this.links.size;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.listener.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    const bound = this.listener.address();
    if (bound === null || typeof bound === 'string') throw new Error('the proxy has no port');
    this.port = bound.port;
  }

  setMode(mode: ProxyMode): void {
    this.mode = mode;
    for (const link of this.links) {
      if (mode === 'pass' && link.lossy) reset(link);
      else applyFlow(link, mode);
    }
  }

  setDelay(delayMs: number): void {
    this.delayMs = delayMs;
  }
  setRefusing(refusing: boolean): void {
    this.refusing = refusing;
  }

  cut(): void {
    for (const link of this.links) {
      this.links.delete(link);
      reset(link);
    }
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => {
      this.listener.close(() => {
        resolve();
      });
    });
  }

  private accept(client: net.Socket): void {
    client.on('error', () => undefined);
    if (this.refusing) {
      client.resetAndDestroy();
      return;
    }
    const server = net.connect(this.target);
    const link: Link = { client, server, lossy: false };
    this.links.add(link);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.links.delete(link);
        reset(link);
      });
    }
    client.on('data', (chunk) => {
      this.forward(server, chunk);
    });
    server.on('data', (chunk) => {
      this.answer(link, chunk);
    });
    applyFlow(link, this.mode);
  }

  private answer(link: Link, chunk: Buffer): void {
    if (this.mode !== 'drop_answers') {
      this.forward(link.client, chunk);
      return;
    }
    link.lossy = true;
    this.droppedBytes += chunk.length;
  }

  private forward(to: net.Socket, chunk: Buffer): void {
    if (this.delayMs === 0) {
      to.write(chunk);
      return;
    }
    setTimeout(() => {
      if (!to.destroyed) to.write(chunk);
    }, this.delayMs);
  }
}

function applyFlow({ client, server }: Link, mode: ProxyMode): void {
  if (mode === 'freeze') client.pause();
  else client.resume();
  if (mode === 'freeze' || mode === 'hold_answers') server.pause();
  else server.resume();
}

function reset({ client, server }: Link): void {
  client.resetAndDestroy();
  server.destroy();
}
