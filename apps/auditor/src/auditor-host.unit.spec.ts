import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { AuditorHost } from './auditor-host.js';
import type { OpenedAuditor } from './auditor-host.js';

const away = new Failure('BROKER_UNAVAILABLE', 'no broker answers');

/** A host whose cluster fails in so many ways before it answers: null where only the reading of what was signed fails. */
function hostOf(failures: readonly (Failure | null)[]): {
  readonly host: AuditorHost;
  readonly done: string[];
  readonly pauses: (() => void)[];
} {
  const [left, done, pauses] = [[...failures], [] as string[], [] as (() => void)[]];
  const host = new AuditorHost({
    open: () => {
      const failure = left.shift();
      if (failure instanceof Failure) return Promise.reject(failure);
      done.push('opened');
      const opened: OpenedAuditor = {
        auditor: {
          start: () => done.push('started'),
          stop: async () => {
            while (!done.includes('interrupted')) await Promise.resolve();
            done.push('stopped');
          },
          health: () => ({ ready: true, trouble: {}, alarms: 2, witnesses: {} }),
        },
        prepare: () => (failure === null ? Promise.reject(away) : Promise.resolve()),
        interrupt: () => Promise.resolve(void done.push('interrupted')),
        close: () => Promise.resolve(void done.push('closed')),
      };
      return Promise.resolve(opened);
    },
    logger: { warn: () => undefined },
    sleep: (_ms, signal) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve();
        });
        pauses.push(resolve);
      }),
  });
  return { host, done, pauses };
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('an auditor whose cluster is away when it starts', () => {
  it('is not ready and says what is in the way, tries again, and follows once the cluster is there', async () => {
    const { host, done, pauses } = hostOf([away]);
    const started = host.start();
    await turn();
    expect(host.health()).toEqual({
      ready: false,
      trouble: {},
      alarms: 0,
      witnesses: {},
      in_the_way: { code: 'BROKER_UNAVAILABLE', detail: 'no broker answers' },
    });
    pauses.shift()?.();
    await started;
    expect([done, host.health()]).toEqual([
      ['opened', 'started'],
      { ready: true, trouble: {}, alarms: 2, witnesses: {}, in_the_way: null },
    ]);
  });

  it('begins anew where the cluster went away while it read what it had signed', async () => {
    const { host, done, pauses } = hostOf([null]);
    const started = host.start();
    await turn();
    pauses.shift()?.();
    await started;
    expect(done).toEqual(['opened', 'interrupted', 'closed', 'opened', 'started']);
  });

  it('ends at once when it is told to', async () => {
    const { host, done } = hostOf([away, away]);
    const started = host.start();
    await turn();
    await host.stop();
    await started;
    expect([done, host.health().ready]).toEqual([[], false]);
  });

  it('ends with what no retry helps against', async () => {
    const missing = new Failure('TOPIC_MISSING', 'it is not there');
    await expect(hostOf([missing]).host.start()).rejects.toBe(missing);
  });
});

describe('an auditor that follows', () => {
  it('is stopped by giving up what it reads, and before the rest is closed', async () => {
    const { host, done } = hostOf([]);
    await host.start();
    await host.stop();
    expect(done).toEqual(['opened', 'started', 'interrupted', 'stopped', 'closed']);
  });
});
