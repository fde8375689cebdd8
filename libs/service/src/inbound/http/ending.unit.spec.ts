// What becomes of requests under way, and of what they read from, when a program is told to end.
import 'reflect-metadata';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Controller, Get, Inject } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { describe, expect, it } from '@jest/globals';
import { Metrics } from '@recourse/telemetry';
import { Limits } from '../../edge/limits.js';
import { Queries } from '../../outbound/sql.js';
import { createEdge } from '../../process.js';
import type { EdgeContext } from '../../service-context.js';
import { ServiceModule } from '../../service.module.js';
import { Public } from './caller.js';

/** A database that answers as long as nobody ended it, and once it is let. */
class Database {
  isEnded = false;
  readonly asked = Promise.withResolvers<null>();
  readonly let = Promise.withResolvers<null>();

  async query(): Promise<{ rows: readonly { now: string }[] }> {
    this.asked.resolve(null);
    await this.let.promise;
    if (this.isEnded) throw new Error('the pool was ended');
    return { rows: [{ now: '7' }] };
  }

  end(): Promise<void> {
    this.isEnded = true;
    return Promise.resolve();
  }
}

class Reads extends Queries {}

@Controller('v1/things')
class Things {
  constructor(@Inject(Reads) private readonly reads: Reads) {}

  @Get()
  @Public()
  read(): Promise<number> {
    return this.reads.now();
  }
}

async function scene(endWithinMs: number) {
  const database = new Database();
  const context: EdgeContext = {
    definition: { name: 'things' },
    host: { health: () => ({ live: true, ready: true, started: true, detail: {} }) },
    limits: new Limits(),
    access: () => undefined,
    authenticate: () => Promise.reject(new Error('no route here asks for this')),
    metrics: new Metrics({ service: 'things' }),
    onError: () => undefined,
  };
  // The driver's pool has no more to it that is asked for here.
  const providers = [
    { provide: Reads, useValue: new Reads(database as unknown as ConstructorParameters<typeof Reads>[0]) },
  ];
  const options = { bodyBytesMax: 1_000, docs: 'public', endWithinMs } as const;
  const app: NestFastifyApplication = await createEdge(
    'things',
    ServiceModule.forEdge(context, [Things], providers),
    options,
  );
  await app.listen(0, '127.0.0.1');
  return { database, app, url: `${await app.getUrl()}/v1/things` };
}

function connectionsOf(app: NestFastifyApplication): Promise<number> {
  const { server } = app.getHttpAdapter().getInstance();
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

describe('a request under way when the program is told to end', () => {
  it('is answered, and what it reads from ends after it', async () => {
    const { database, app, url } = await scene(60_000);
    const answer = fetch(url);
    await database.asked.promise;
    const ended = app.close();
    while (app.getHttpAdapter().getInstance().server.listening) await turn();
    expect(database.isEnded).toBe(false);
    database.let.resolve(null);
    const { status, headers } = await answer;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await ended;
    expect(database.isEnded).toBe(true);
  });

  it('is cut off once it takes longer than an end may', async () => {
    const { database, app, url } = await scene(20);
    const answer = fetch(url);
    const cut = expect(answer).rejects.toThrow('fetch failed');
    await database.asked.promise;
    await app.close();
    await cut;
    database.let.resolve(null);
  });

  it.each([
    ['nothing', ''],
    ['half a head', 'GET /v1/things HTTP/1.1\r\nhost: thi'],
  ])('waits for nobody who has sent %s', async (_what, sent) => {
    const { app, url } = await scene(60_000);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    if (sent !== '') await new Promise((resolve) => socket.write(sent, resolve));
    while ((await connectionsOf(app)) === 0) await turn();
    const cut = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined); // a reset is an end, too
    await app.close();
    await cut;
    expect(await connectionsOf(app)).toBe(0);
  });

  it('waits for nobody whose connection is merely kept', async () => {
    const { database, app, url } = await scene(60_000);
    database.let.resolve(null);
    expect((await fetch(url)).headers.get('connection')).toBe('keep-alive');
    await app.close();
    expect(database.isEnded).toBe(true);
  });
});
