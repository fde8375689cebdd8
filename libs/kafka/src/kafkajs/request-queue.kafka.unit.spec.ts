import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mendRequestQueues } from './request-queue.kafka.js';

const quiet = { debug: () => undefined, namespace: () => quiet };

describe('a queue of requests', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const made = () =>
    new (mendRequestQueues())({
      instrumentationEmitter: null,
      maxInFlightRequests: 1,
      requestTimeout: 1_000,
      enforceRequestTimeout: false,
      clientId: 'spec',
      broker: 'none',
      logger: quiet,
      isConnected: () => true,
    });

  it('that is empty sets no timer, so that an idle client rests', () => {
    const queue = made();
    queue.scheduleCheckPendingRequests();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('in which something waits is looked at again', () => {
    const queue = made();
    Object.assign(queue, { pending: [{}] });
    queue.scheduleCheckPendingRequests();
    expect(jest.getTimerCount()).toBe(1);
  });
});
