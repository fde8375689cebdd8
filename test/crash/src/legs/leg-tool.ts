// The tool that workers call: things that were put down are gone once they are taken back. It lives with the crash runs, so that it
// outlives every worker, counts every effect, and knows the moment at which a worker has to die.
//
//   POST /act/<run>/<effect>         takes a thing back; with an idempotency key a repeat has no effect
//   GET  /look|verify/<run>/<effect> whether it is there
//
// Invariants
//   T1. Each run has one kill at the most, at the first call that comes to its moment.
//   T2. What was asked before the kill and is not answered stays unanswered, as when its caller is gone.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { pause } from '../edge.js';
import { LEG_STEPS, mirrored } from './leg.cases.js';
import type { LegCase, Moment } from './leg.cases.js';
import type { CallKind, Killed, RunSeen, ToolCall } from './leg.decisions.js';

/** What a call takes: a leg of eleven lasts longer than a worker waits before it tells how far it has come. */
const CALL_MS = 12;
/** Headers by which a worker says who it is, and makes its act the same on every attempt. */
export const WORKER_HEADER = 'x-worker';
export const KEY_HEADER = 'idempotency-key';

/** The moment of a call before it has an effect, when it has had it, and when it is answered. */
const MOMENTS_OF: Readonly<Record<CallKind, readonly [Moment | null, Moment | null, Moment | null]>> = {
  look: ['look asked', null, 'looked'],
  act: ['act asked', 'act done', null],
  verify: ['verify asked', null, 'verified'],
};

/** A run that is followed. */
interface Followed {
  readonly told: LegCase;
  readonly kill: () => Promise<void>;
  readonly calls: ToolCall[];
  readonly acts: number[];
  readonly undone: number[];
  killed: Killed | null;
  isStruck: boolean;
}

export class LegTool {
  private readonly followed = new Map<string, Followed>();
  private readonly keys = new Set<string>();
  private port = 0;

  private constructor(private readonly server: Server) {}

  static async open(): Promise<LegTool> {
    const tool: LegTool = new LegTool(
      createServer((request, response) => {
        tool.take(request, response).catch(() => {
          response.destroy();
        });
      }),
    );
    await new Promise<void>((resolve, reject) => {
      tool.server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    const bound = tool.server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the tool has no port');
    tool.port = bound.port;
    return tool;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  /** What was seen of each run. */
  get runs(): ReadonlyMap<string, RunSeen> {
    return this.followed;
  }

  /** Follows a run; `kill` is called when it comes to the moment, and resolves when the worker is dead. */
  arm(run: string, told: LegCase, kill: () => Promise<void>): void {
    this.followed.set(run, { told, kill, calls: [], acts: [], undone: [], killed: null, isStruck: false });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
  }

  private async take({ url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, name = '', run = '', number = ''] = url.split('/');
    const call = callNamed(name);
    const followed = this.followed.get(run);
    if (call === null || followed === undefined) {
      response.writeHead(404).end();
      return;
    }
    const asked: ToolCall = { call, effect: Number(number), worker: Number(headers[WORKER_HEADER]), at: Date.now() };
    followed.calls.push(asked);
    await pause(CALL_MS);
    const [before, after, answered] = MOMENTS_OF[call];
    if (await strikesAt(followed, asked, before)) return;
    if (call === 'act') this.act(run, followed, asked.effect, headers[KEY_HEADER]);
    if (await strikesAt(followed, asked, after)) return;
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        thing: `${run}/${number}`,
        status: followed.undone.includes(asked.effect) ? 'gone' : 'there',
      }),
    );
    await goesOn(followed, asked, answered);
    await strikesAt(followed, asked, answered);
  }

  private act(run: string, { acts, undone }: Followed, effect: number, key: string | string[] | undefined): void {
    acts.push(effect);
    if (typeof key === 'string') {
      const known = `${run} ${key}`;
      if (this.keys.has(known)) return;
      this.keys.add(known);
    }
    undone.push(effect);
  }
}

function callNamed(name: string): CallKind | null {
  return name === 'look' || name === 'act' || name === 'verify' ? name : null;
}

function isMoment({ told, isStruck }: Followed, { effect }: ToolCall, moment: Moment | null): boolean {
  return !isStruck && moment === told.moment && effect === mirrored(told.step);
}

/** The worker goes on for a millisecond for each step that is left: after the last it dies at once. */
async function goesOn(followed: Followed, call: ToolCall, moment: Moment | null): Promise<void> {
  if (isMoment(followed, call, moment)) await pause(LEG_STEPS - followed.told.step);
}

/** Kills the caller where its moment has come; true when it has. */
async function strikesAt(followed: Followed, call: ToolCall, moment: Moment | null): Promise<boolean> {
  if (!isMoment(followed, call, moment)) return false;
  followed.isStruck = true;
  const at = Date.now();
  await followed.kill();
  followed.killed = { worker: call.worker, at };
  return true;
}
