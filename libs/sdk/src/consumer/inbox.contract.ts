// What every inbox does: all of a transaction or nothing of it, no derivation beside a rollback, nothing owed twice.
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import type { Inbox, InboxSession } from './inbox.port.js';

/** An inbox with rows of the consumer's own beside it. */
export interface InboxUnderTest<Tx> {
  readonly inbox: Inbox<Tx>;
  /** The same rows for a process that starts anew. */
  readonly reopen: () => Inbox<Tx>;
  /** Another consumer over the same rows; null where an inbox has a store of its own. */
  readonly other: Inbox<Tx> | null;
  /** Writes and reads a row of the consumer's own within a transaction. */
  write(tx: Tx, key: string, value: string): Promise<void>;
  read(tx: Tx, key: string): Promise<string | null>;
}

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((id) => ({ run_id: 'run-1', commit_id: id }));
const commit = (one: typeof A): NonNullable<typeof A> => {
  if (one === undefined) throw new Error('no such commit');
  return one;
};
const ack = (id: string) => ({
  event_id: id,
  tenant: 'acme',
  run_id: 'run-1',
  mutation_id: 'a',
  rollback_id: 'rb',
  consumer: 'mailer',
  applied_at: 7,
  derived: [commit(B)],
  emissions: [{ kind: 'email', ref: null, emitted_at: 5 }],
});
const email = (ref: string) => ({ kind: 'email', ref, emitted_at: 1_700_000_000_000 });

const kept = <Tx, T>(inbox: Inbox<Tx>, look: (session: InboxSession<Tx>) => Promise<T>): Promise<T> =>
  inbox.transact('derive', look);

export function inboxContract<Tx>(name: string, make: () => Promise<InboxUnderTest<Tx>>): void {
  describe(`the inbox "${name}"`, () => runCases<InboxUnderTest<unknown>>(CASES, make));
}

const CASES: Cases<InboxUnderTest<unknown>> = {
  'keeps a transaction whole, the rows of its consumer too, after a crash': async ({ inbox, reopen, write, read }) => {
    await inbox.transact('apply', async (session) => {
      await session.keepMark('place', '1');
      await session.keepMark('place', '2');
      await session.keepState(commit(A), 'invalidated');
      await write(session.tx, 'report', 'draft');
    });
    expect(
      await kept(reopen(), async (session) => [
        await session.mark('place'),
        await session.mark('none'),
        await session.stateOf(commit(A)),
        await session.stateOf(commit(B)),
        await read(session.tx, 'report'),
      ]),
    ).toEqual(['2', null, 'invalidated', null, 'draft']);
  },

  'keeps nothing of a transaction that failed': async ({ inbox, write, read }) => {
    const failing = inbox.transact('apply', async (session) => {
      await session.keepMark('place', '9');
      await session.keepState(commit(A), 'fallen');
      await session.keepOwn({ commit: commit(B), parents: [commit(A)] });
      await session.owe(ack('ack-1'));
      await write(session.tx, 'report', 'lost');
      throw new Error('the handler failed');
    });
    await expect(failing).rejects.toThrow('the handler failed');
    expect(
      await kept(inbox, async (session) => [
        await session.mark('place'),
        await session.stateOf(commit(A)),
        await session.madeFrom([commit(A)]),
        await session.owed(9),
        await read(session.tx, 'report'),
      ]),
    ).toEqual([null, null, [], [], null]);
  },

  'finds what was made from commits, and what went out on them': async ({ inbox }) => {
    await inbox.transact('derive', async (session) => {
      await session.keepOwn({ commit: commit(C), parents: [commit(A), commit(B)] });
      await session.keepOwn({ commit: commit(D), parents: [commit(C)] });
      await session.keepEmission(commit(C), email('m-1'));
      await session.keepEmission(commit(D), email('m-2'));
      await session.keepEmission(commit(C), email('m-3'));
    });
    expect(
      await kept(inbox, async (session) => [
        await session.madeFrom([commit(A)]),
        await session.madeFrom([commit(B), commit(C)]),
        await session.madeFrom([commit(D)]),
        await session.madeFrom([]),
      ]),
    ).toEqual([[C], [C, D], [], []]);
    expect(
      await kept(inbox, async (session) => [
        await session.emissionsOf([commit(C)]),
        await session.emissionsOf([commit(D), commit(C)]),
        await session.emissionsOf([]),
      ]),
    ).toEqual([[email('m-1'), email('m-3')], [email('m-1'), email('m-2'), email('m-3')], []]);
  },

  'owes an acknowledgement once, in order, until it is settled': async ({ inbox, reopen }) => {
    for (const id of ['ack-1', 'ack-2', 'ack-1', 'ack-3'])
      await inbox.transact('apply', (session) => session.owe(ack(id)));
    expect(await kept(reopen(), (session) => session.owed(2))).toEqual([ack('ack-1'), ack('ack-2')]);
    await kept(inbox, (session) => session.settle(['ack-1', 'ack-2']));
    expect((await kept(reopen(), (session) => session.owed(9))).map(({ event_id }) => event_id)).toEqual(['ack-3']);
  },

  'lets no derivation run beside a rollback: it is seen by it, or sees it': async ({ inbox }) => {
    const steps: string[] = [];
    const deriving = inbox.transact('derive', async (session) => {
      steps.push('derive');
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
      await session.keepOwn({ commit: commit(B), parents: [commit(A)] });
      steps.push('derived');
    });
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
    const applying = inbox.transact('apply', async (session) => {
      steps.push('apply');
      return session.madeFrom([commit(A)]);
    });
    await deriving;
    expect(await applying).toEqual([B]);
    expect(steps).toEqual(['derive', 'derived', 'apply']);
  },

  'tells consumers apart': async ({ inbox, other }) => {
    if (other === null) return;
    await inbox.transact('apply', async (session) => {
      await session.keepMark('place', '1');
      await session.owe(ack('ack-1'));
    });
    expect(await kept(other, async (session) => [await session.mark('place'), await session.owed(9)])).toEqual([
      null,
      [],
    ]);
  },
};
