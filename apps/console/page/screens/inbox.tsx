// All that waits for a person. The rows that are seen are the only ones drawn, so that ten thousand scroll as ten do.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { inboxQuery, ITEMS_MAX } from '../api/inbox.js';
import type { InboxItem } from '../api/inbox.js';
import { useKeys } from '../app/keys.tsx';
import { usePerson } from '../app/session.js';
import { useNow } from '../parts/clock.js';
import { Amount, Countdown, Id, Tag, Text } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords, KIND_NAMES, KINDS, kindWords, STEP_KINDS } from '../words/kinds.js';
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
  return count === 1 ? '1 item' : `${count.toLocaleString('en')} items`;
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
  const minute = Math.floor(useNow() / 60_000) * 60_000;
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
      <p className="empty">Nothing among {items.length.toLocaleString('en')} items is like that. Widen the filter.</p>
    );
  return <Rows items={found} />;
}

const ROW_PX = 76;
const NARROW_ROW_PX = 128;

function Rows({ items }: { readonly items: readonly InboxItem[] }): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(-1);
  const isNarrow = matchMedia('(max-width: 700px)').matches;
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => (isNarrow ? NARROW_ROW_PX : ROW_PX),
    overscan: 12,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : `${item.kind}:${item.id}:${item.opened_at}`;
    },
  });
  const go = (step: number): void => {
    const next = Math.min(items.length - 1, Math.max(0, at + step));
    setAt(next);
    rows.scrollToIndex(next);
    const row = (): HTMLElement | null | undefined =>
      frame.current?.querySelector<HTMLElement>(`[data-at="${next}"] a`);
    // A row that is drawn has the focus at once: Enter may follow within the frame.
    if (row()) row()?.focus({ preventScroll: true });
    else requestAnimationFrame(() => row()?.focus());
  };
  useKeys({
    j: () => {
      go(1);
    },
    k: () => {
      go(-1);
    },
  });
  return (
    <div className="rows" ref={frame} tabIndex={0} role="region" aria-label="Items">
      <ul style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ key, index, start, size }) => {
          const item = items[index];
          return item === undefined ? null : (
            <li
              key={key}
              data-at={index}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)`, height: size }}
              onFocus={() => {
                setAt(index);
              }}
            >
              <ItemRow item={item} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function ItemRow({ item }: { readonly item: InboxItem }): ReactNode {
  const { kind, capability, reason, run_id, deadline_at, required_approvals: required, approvals } = item;
  const words = kindWords(kind);
  return (
    <ItemLink item={item}>
      <span className="what">
        <Tag kind={kind}>{words.name}</Tag> <b>{capability === null ? words.asks : <Text>{capability}</Text>}</b>
      </span>
      <span className="why quiet">
        {codeWords(reason)} · run <Id>{run_id}</Id>
        {required > 0 ? ` · ${approvals} of ${required} agreed` : ''}
      </span>
      <span className="stake">
        <Amount value={item.value} />
      </span>
      <span className="left">
        <Countdown until={deadline_at} over="overdue" />
      </span>
    </ItemLink>
  );
}

export function ItemLink({ item, children }: { readonly item: InboxItem; readonly children: ReactNode }): ReactNode {
  return STEP_KINDS.includes(item.kind) ? (
    <Link to="/reviews/$stepId" params={{ stepId: item.id }} className="row">
      {children}
    </Link>
  ) : (
    <Link to="/items/$kind/$id" params={{ kind: item.kind, id: item.id }} search={{ run: item.run_id }} className="row">
      {children}
    </Link>
  );
}
