import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Asking, IN_FLIGHT_MAX, NoAnswer } from './asking.js';
import { PromiseCache } from './promise-cache.js';

const TIME_MS = 300;
const keepNothing = (): void => undefined;

/** Requests that are answered when the spec says so. */
function registry(): { readonly act: () => Promise<string>; readonly requests: PromiseWithResolvers<string>[] } {
  const requests: PromiseWithResolvers<string>[] = [];
  return {
    requests,
    act: () => {
      const request = Promise.withResolvers<string>();
      requests.push(request);
      return request.promise;
    },
  };
}

describe('a question to the registry', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is repeated while nobody answers, and the first request may still answer it', async () => {
    const { act, requests } = registry();
    const answer = new Asking(TIME_MS).ask(act, keepNothing);
    await jest.advanceTimersByTimeAsync(TIME_MS - 1);
    expect(requests).toHaveLength(3);
    requests[0]?.resolve('the first');
    expect(await answer).toBe('the first');
  });

  it('is answered by the repetition when the first request was swallowed', async () => {
    const { act, requests } = registry();
    const answer = new Asking(TIME_MS).ask(act, keepNothing);
    await jest.advanceTimersByTimeAsync(TIME_MS / 2);
    requests[1]?.resolve('the second');
    expect(await answer).toBe('the second');
    await jest.advanceTimersByTimeAsync(TIME_MS);
    expect(requests).toHaveLength(2);
  });

  it('fails when nobody answers in time, and the late answer is there for who asks next', async () => {
    const { act, requests } = registry();
    const cache = new PromiseCache<string>();
    const asking = new Asking(TIME_MS);
    const ask = (): Promise<string> => cache.get('key', (keep) => asking.ask(act, keep));
    const refused = expect(ask()).rejects.toBeInstanceOf(NoAnswer);
    await jest.advanceTimersByTimeAsync(TIME_MS);
    await refused;
    requests[0]?.resolve('late');
    await jest.advanceTimersByTimeAsync(0);
    expect(await ask()).toBe('late');
    expect(requests).toHaveLength(3);
  });

  it('waits while the registry has enough to do, and its time begins when it is put', async () => {
    const { act, requests } = registry();
    const asking = new Asking(TIME_MS);
    const answers = Array.from({ length: IN_FLIGHT_MAX + 1 }, () => asking.ask(act, keepNothing));
    await jest.advanceTimersByTimeAsync(TIME_MS / 3 - 1);
    expect(requests).toHaveLength(IN_FLIGHT_MAX);
    requests[0]?.resolve('first');
    await answers[0];
    await jest.advanceTimersByTimeAsync(0);
    expect(requests).toHaveLength(IN_FLIGHT_MAX + 1);
    requests.forEach(({ resolve }) => {
      resolve('all');
    });
    expect(await Promise.all(answers)).toHaveLength(IN_FLIGHT_MAX + 1);
  });
});
