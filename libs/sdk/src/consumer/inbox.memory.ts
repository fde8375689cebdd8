// An inbox in memory: as durable as the object that holds it. For specs, and for consumers that begin anew with each start.
import type { CommitRef, Emission, RollbackAcknowledged } from '@recourse/messages';
import type { CommitState, Inbox, InboxSession } from './inbox.port.js';

/** Rows of the consumer's own, which change with the inbox or not at all. */
export interface MemoryRows {
  readonly rows: Map<string, string>;
}

interface Kept extends MemoryRows {
  readonly marks: Map<string, string>;
  readonly states: Map<string, CommitState>;
  /** Own commits by parent. */
  readonly children: Map<string, CommitRef[]>;
  readonly emissions: { readonly of: string; readonly emission: Emission }[];
  readonly acks: Map<string, RollbackAcknowledged>;
}

/** An inbox in memory; one transaction at a time. */
export class MemoryInbox implements Inbox<MemoryRows> {
  private kept: Kept = {
    rows: new Map(),
    marks: new Map(),
    states: new Map(),
    children: new Map(),
    emissions: [],
    acks: new Map(),
  };
  private last: Promise<unknown> = Promise.resolve();

  /** Rows of the consumer's own that were committed. */
  get rows(): ReadonlyMap<string, string> {
    return this.kept.rows;
  }

  transact<T>(_kind: 'apply' | 'derive', work: (session: InboxSession<MemoryRows>) => Promise<T>): Promise<T> {
    const done = this.last.then(async () => {
      const draft = draftOf(this.kept);
      const result = await work(sessionOver(draft));
      this.kept = draft;
      return result;
    });
    this.last = done.catch(() => undefined);
    return done;
  }
}

/** What is kept is replaced and never changed, so that maps of it are enough of a copy. */
function draftOf({ rows, marks, states, children, emissions, acks }: Kept): Kept {
  return {
    rows: new Map(rows),
    marks: new Map(marks),
    states: new Map(states),
    children: new Map(children),
    emissions: [...emissions],
    acks: new Map(acks),
  };
}

function sessionOver(draft: Kept): InboxSession<MemoryRows> {
  return {
    tx: draft,
    mark: (name) => Promise.resolve(draft.marks.get(name) ?? null),
    keepMark: (name, text) => {
      draft.marks.set(name, text);
      return Promise.resolve();
    },
    stateOf: (commit) => Promise.resolve(draft.states.get(nameOf(commit)) ?? null),
    keepState: (commit, state) => {
      draft.states.set(nameOf(commit), state);
      return Promise.resolve();
    },
    keepOwn: ({ commit, parents }) => {
      for (const parent of parents)
        draft.children.set(nameOf(parent), [...(draft.children.get(nameOf(parent)) ?? []), commit]);
      return Promise.resolve();
    },
    madeFrom: (commits) => Promise.resolve(commits.flatMap((commit) => draft.children.get(nameOf(commit)) ?? [])),
    keepEmission: (commit, emission) => {
      draft.emissions.push({ of: nameOf(commit), emission });
      return Promise.resolve();
    },
    emissionsOf: (commits) => {
      const names = new Set(commits.map(nameOf));
      return Promise.resolve(draft.emissions.filter(({ of }) => names.has(of)).map(({ emission }) => emission));
    },
    owe: (ack) => {
      if (!draft.acks.has(ack.event_id)) draft.acks.set(ack.event_id, ack);
      return Promise.resolve();
    },
    owed: (limit) => Promise.resolve([...draft.acks.values()].slice(0, limit)),
    settle: (ids) => {
      for (const id of ids) draft.acks.delete(id);
      return Promise.resolve();
    },
  };
}

function nameOf({ run_id, commit_id }: CommitRef): string {
  return JSON.stringify([run_id, commit_id]);
}
