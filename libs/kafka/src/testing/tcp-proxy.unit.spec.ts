import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from './owner.testing.js';
import { startTcpProxy } from './tcp-proxy.js';
import type { TcpProxy } from './tcp-proxy.js';

describe('a connection through the proxy', () => {
  const requests: string[] = [];
  let echo: net.Server;
  let proxy: TcpProxy;
  let client: net.Socket;
  let answers = '';
  let closed = false;

  beforeEach(async () => {
    requests.length = 0;
    answers = '';
    closed = false;
    echo = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        requests.push(String(chunk));
        socket.write(chunk);
      });
    });
    await new Promise<void>((resolve) => {
      echo.listen(0, '127.0.0.1', resolve);
    });
    proxy = await startTcpProxy({ host: '127.0.0.1', port: (echo.address() as net.AddressInfo).port });
    client = net.connect({ host: '127.0.0.1', port: proxy.port });
    client
      .on('data', (chunk) => {
        answers += String(chunk);
      })
      .on('error', () => undefined)
      .on('close', () => {
        closed = true;
      });
    client.write('a');
    await until('it answers', () => answers === 'a');
  });

  afterEach(async () => {
    client.destroy();
    await proxy.close();
    await new Promise<void>((resolve) => {
      echo.close(() => {
        resolve();
      });
    });
  });

  it('loses answers, and then does not survive', async () => {
    proxy.setMode('drop_answers');
    client.write('b');
    await until('the answer is lost', () => proxy.droppedBytes === 1);
    expect([requests, answers, closed]).toEqual([['a', 'b'], 'a', false]);
    proxy.setMode('pass');
    await until('it is reset', () => closed);
  });

  it('holds everything back while frozen, and lets it go after', async () => {
    proxy.setMode('freeze');
    client.write('b');
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    expect([requests, answers, closed]).toEqual([['a'], 'a', false]);
    proxy.setMode('pass');
    await until('it answers', () => answers === 'ab');
  });

  it('takes its time', async () => {
    proxy.setDelay(40);
    const startedAt = performance.now();
    client.write('b');
    await until('it answers', () => answers === 'ab');
    expect(performance.now() - startedAt).toBeGreaterThan(75);
  });

  it('is cut, and refused while the proxy refuses', async () => {
    proxy.setRefusing(true);
    proxy.cut();
    await until('it is reset', () => closed);
    const refused = net.connect({ host: '127.0.0.1', port: proxy.port });
    const ended = await new Promise((resolve) => {
      refused
        .on('error', () => {
          resolve('reset');
        })
        .on('close', () => {
          resolve('reset');
        });
    });
    expect([ended, proxy.connectionCount]).toEqual(['reset', 0]);
  });
});
