// All that waits for a person.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { inboxQuery, ITEMS_MAX } from '../api/inbox.js';
import type { InboxItem } from '../api/inbox.js';
import { usePerson } from '../app/session.js';
import { useMinute } from '../parts/clock.js';
import { counted } from '../parts/counted.js';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { KIND_NAMES, KINDS } from '../words/kinds.js';
import { Rows } from './inbox.rows.tsx';
import { chosen } from './inbox.rules.js';
import type { InboxSearch } from './inbox.search.js';

export function Inbox(): ReactNode {
  const search = useSearch({ from: '/' });
  const { data, error, refetch } = useQuery(inboxQuery);
  return (
    <>
      <header className="screen">
        <h1>What waits for a person</h1>
        {data === undefined ? null : <p className="quiet">{countWords(data.items.length, data.isCut)}</p>}
      </header>
      <Filters search={search} />
      {error === null ? null : (
        <Trouble
          cause={error}
          onAgain={() => {
            void refetch();
          }}
        />
      )}
      {data === undefined && error === null ? <Waiting what="what waits" /> : null}
      {data === undefined ? null : <Found items={data.items} search={search} />}
    </>
  );
}

function countWords(count: number, isCut: boolean): string {
  if (isCut) return `The first ${ITEMS_MAX.toLocaleString('en')} items; more wait.`;
  return counted(count, 'item', 'items');
}

function Filters({ search }: { readonly search: InboxSearch }): ReactNode {
  const navigate = useNavigate({ from: '/' });
  const set = (change: Partial<InboxSearch>): void => {
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  };
  return (
    <form
      className="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      <label>
        Find
        <input
          type="search"
          value={search.find ?? ''}
          maxLength={200}
          placeholder="run, capability, reason"
          onChange={({ target }) => {
            set({ find: target.value || undefined });
          }}
        />
      </label>
      <label>
        Kind
        <select
          value={search.kind ?? ''}
          onChange={({ target }) => {
            set({ kind: target.value || undefined });
          }}
        >
          <option value="">all kinds</option>
          {KIND_NAMES.map((kind) => (
            <option key={kind} value={kind}>
              {KINDS[kind].name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Whose
        <select
          value={search.whose ?? 'all'}
          onChange={({ target }) => {
            set({ whose: target.value === 'mine' ? 'mine' : undefined });
          }}
        >
          <option value="all">everybody’s</option>
          <option value="mine">mine</option>
        </select>
      </label>
      <label>
        By
        <select
          value={search.sort ?? 'time'}
          onChange={({ target }) => {
            set({ sort: target.value === 'money' ? 'money' : undefined });
          }}
        >
          <option value="time">time left</option>
          <option value="money">money at stake</option>
        </select>
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={search.overdue === true}
          onChange={({ target }) => {
            set({ overdue: target.checked || undefined });
          }}
        />
        overdue only
      </label>
    </form>
  );
}

function Found({ items, search }: { readonly items: readonly InboxItem[]; readonly search: InboxSearch }): ReactNode {
  const person = usePerson();
  const minute = useMinute();
  const found = useMemo(() => chosen(items, search, person, minute), [items, search, person, minute]);
  if (items.length === 0)
    return (
      <div className="empty">
        <p className="lead">Nothing waits for anybody.</p>
        <p>Whatever needs a person appears here by itself.</p>
      </div>
    );
  if (found.length === 0)
    return (
      <p className="empty">Nothing among {counted(items.length, 'item', 'items')} is like that. Widen the filter.</p>
    );
  return <Rows items={found} />;
}
