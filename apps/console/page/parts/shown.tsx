// How single things are shown: texts, instants, money, ids, JSON.
import type { ReactNode } from 'react';
import { numberIn, textIn } from '../api/rows.js';
import type { Money, Row } from '../api/shapes.js';
import { amountText } from './amount.js';
import { lengthOf, relative, useNow } from './clock.js';
import { inert, isWebAddress } from './inert.js';
import { isoOf, NO_INSTANT } from './instant.js';
import { shortOf } from './short.js';

/** Text that somebody else wrote. */
export function Text({ children }: { readonly children: string }): ReactNode {
  return <bdi className="text">{inert(children)}</bdi>;
}

/** A name of code that somebody else chose. */
export function Code({ children }: { readonly children: string | null }): ReactNode {
  return <code>{inert(children ?? '')}</code>;
}

export function Id({ children, short = true }: { readonly children: string; readonly short?: boolean }): ReactNode {
  const shown = inert(children);
  return (
    <code className="id" title={shown}>
      {short ? shortOf(shown) : shown}
    </code>
  );
}

/** An instant, as how far away it is; the instant itself on hover. */
export function Time({ at }: { readonly at: number }): ReactNode {
  const iso = isoOf(at);
  const now = useNow();
  return (
    <time dateTime={iso} title={iso}>
      {iso === NO_INSTANT ? iso : relative(at, now)}
    </time>
  );
}

interface TimeLeft {
  readonly until: number;
  readonly over: string;
}

/** Time left until an instant. */
export function Countdown(left: TimeLeft): ReactNode {
  return <Left {...left} now={useNow()} />;
}

/** Time left until an instant, for who has the clock: a list asks it once for all rows. */
export function Left({ until, over, now }: TimeLeft & { readonly now: number }): ReactNode {
  const left = until - now;
  const level = left <= 0 ? 'over' : left < SOON_MS ? 'soon' : 'calm';
  const iso = isoOf(until);
  return (
    <time className={`countdown ${level}`} dateTime={iso} title={iso}>
      {left <= 0 ? over : lengthOf(left)}
    </time>
  );
}
const SOON_MS = 900_000;

export function Amount({ value }: { readonly value: Money | null | undefined }): ReactNode {
  return value === null || value === undefined ? (
    <span className="quiet">none</span>
  ) : (
    <span className="amount">{amountText(value)}</span>
  );
}

/** Minor units of a row in the row's own unit. */
export function Minor({ of, name }: { readonly of: Row; readonly name: string }): ReactNode {
  const [minor, currency] = [numberIn(of, name), textIn(of, 'currency')];
  return <Amount value={minor === null || currency === null ? null : { amount_minor: minor, currency }} />;
}

/** Millionths as a part of one: 0.71. */
export function Parts({
  of,
  name,
  none = 'none',
}: {
  readonly of: Row;
  readonly name: string;
  readonly none?: string;
}): ReactNode {
  const ppm = numberIn(of, name);
  return ppm === null ? <span className="quiet">{none}</span> : String(ppm / PPM);
}
const PPM = 1_000_000;

/** JSON of a payload, folded text, or whatever a service puts in its place. */
export function Json({ value }: { readonly value: unknown }): ReactNode {
  return <pre className="json">{inert(JSON.stringify(plain(value), null, 2))}</pre>;
}

/** What a payload holds: services wrap it, in `json` where it is shown and in `body` where it is stored. */
export function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if ('json' in value) return value.json;
  if ('body' in value && 'sha256' in value) return value.body;
  return value;
}

/** A link that only leads to the web; anything else is text. */
export function Outward({ to }: { readonly to: string }): ReactNode {
  if (!isWebAddress(to)) return <Text>{to}</Text>;
  return (
    <a href={to} rel="noreferrer noopener" target="_blank">
      <Text>{to}</Text>
    </a>
  );
}

export function Tag({ kind, children }: { readonly kind?: string; readonly children: ReactNode }): ReactNode {
  return <span className={`tag ${kind ?? ''}`}>{children}</span>;
}

export function Card({
  title,
  children,
  aside,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly aside?: ReactNode;
}): ReactNode {
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Names and what they are, as a list of definitions. */
export function Facts({ children }: { readonly children: ReactNode }): ReactNode {
  return <dl className="facts">{children}</dl>;
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
