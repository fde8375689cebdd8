// The rows of the inbox. Those in sight are the only ones drawn, so that ten thousand scroll as ten do.
//
// Invariants
//   W1. All rows have one height: where one stands is a product, and nothing is measured while the list scrolls.
//   W2. A row that stays in sight is not drawn again when others come.
import { Link } from '@tanstack/react-router';
import { memo, useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode, RefObject } from 'react';
import { flushSync } from 'react-dom';
import type { InboxItem } from '../api/inbox.js';
import { useKeys } from '../app/keys.tsx';
import { useNow } from '../parts/clock.js';
import { Amount, Id, Left, Tag, Text } from '../parts/shown.tsx';
import { drawnRows, topShowing } from '../parts/window.js';
import type { Drawn, Sight } from '../parts/window.js';
import { codeWords, kindWords } from '../words/kinds.js';
import { screenOf } from './item.rules.js';

const ROW_PX = 76;
const NARROW_ROW_PX = 128;

/** How large the list is, kept as the window changes. */
function useSight(frame: RefObject<HTMLDivElement | null>, count: number): Sight {
  const [size, setSize] = useState({ heightPx: 0, rowPx: ROW_PX });
  useLayoutEffect(() => {
    const list = frame.current;
    if (list === null) return undefined;
    const narrow = matchMedia('(max-width: 700px)');
    const measure = (): void => {
      setSize({ heightPx: list.clientHeight, rowPx: narrow.matches ? NARROW_ROW_PX : ROW_PX });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => {
      observer.disconnect();
    };
  }, [frame]);
  return { ...size, count };
}

/** The rows that are drawn, in the same frame as the list is scrolled. */
function useDrawn(frame: RefObject<HTMLDivElement | null>, sight: Sight): Drawn & { readonly onScroll: () => void } {
  const [first, setFirst] = useState(0);
  const { from, to } = drawnRows(first * sight.rowPx, { ...sight, heightPx: sight.heightPx + sight.rowPx });
  const onScroll = (): void => {
    const now = Math.floor((frame.current?.scrollTop ?? 0) / sight.rowPx);
    if (now !== first)
      flushSync(() => {
        setFirst(now);
      });
  };
  return { from, to, onScroll };
}

export function Rows({ items }: { readonly items: readonly InboxItem[] }): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(-1);
  const now = useNow();
  const sight = useSight(frame, items.length);
  const { from, to, onScroll } = useDrawn(frame, sight);
  const go = (step: number): void => {
    const list = frame.current;
    if (list === null) return;
    const next = Math.min(items.length - 1, Math.max(0, at + step));
    setAt(next);
    list.scrollTop = topShowing(next, list.scrollTop, sight);
    const row = (): HTMLElement | null => list.querySelector<HTMLElement>(`[data-at="${next}"] a`);
    // A row that is drawn has the focus at once: Enter may follow within the frame.
    if (row() !== null) row()?.focus({ preventScroll: true });
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
    <div className="rows" ref={frame} tabIndex={0} role="region" aria-label="Items" onScroll={onScroll}>
      <div style={{ height: items.length * sight.rowPx }}>
        <ul style={{ transform: `translateY(${from * sight.rowPx}px)` }}>
          {items.slice(from, to).map((item, index) => (
            <RowView
              key={`${item.kind}:${item.id}:${item.opened_at}`}
              item={item}
              at={from + index}
              of={items.length}
              now={now}
              onAt={setAt}
            />
          ))}
        </ul>
      </div>
    </div>
  );
}

interface RowProps {
  readonly item: InboxItem;
  readonly at: number;
  readonly of: number;
  readonly now: number;
  readonly onAt: (at: number) => void;
}

const RowView = memo(function RowView({ item, at, of, now, onAt }: RowProps): ReactNode {
  const { kind, capability, reason, run_id, log, deadline_at, required_approvals: required, approvals } = item;
  const words = kindWords(kind);
  return (
    <li
      data-at={at}
      aria-setsize={of}
      aria-posinset={at + 1}
      onFocus={() => {
        onAt(at);
      }}
    >
      <ItemLink item={item}>
        <span className="what">
          <Tag kind={kind}>{words.name}</Tag> <b>{capability === null ? words.asks : <Text>{capability}</Text>}</b>
        </span>
        <span className="why quiet">
          {codeWords(reason)} · {log ? 'log' : 'run'} <Id>{log ? log : run_id}</Id>
          {required > 0 ? ` · ${approvals} of ${required} agreed` : ''}
        </span>
        <span className="stake">
          {item.isValueUnread === true ? <span className="quiet">not known</span> : <Amount value={item.value} />}
        </span>
        <span className="left">
          <Left until={deadline_at} over="overdue" now={now} />
        </span>
      </ItemLink>
    </li>
  );
});

function ItemLink({ item, children }: { readonly item: InboxItem; readonly children: ReactNode }): ReactNode {
  const { kind, id } = item;
  const row = { className: 'row', children };
  switch (screenOf(kind)) {
    case 'review':
      return <Link to="/reviews/$stepId" params={{ stepId: id }} {...row} />;
    case 'autonomy':
      return <Link to="/autonomy/$id" params={{ id }} {...row} />;
    case 'audit':
      return <Link to="/audit" {...row} />;
    case 'exposure':
      return <Link to="/exposure" {...row} />;
    case 'contracts':
      return <Link to="/contracts" {...row} />;
    case 'item':
      return <Link to="/items/$kind/$id" params={{ kind, id }} search={{ run: item.run_id }} {...row} />;
  }
}
