// What a browser has for its pages together: a stream of events, a channel and locks.
import type { Who } from './ends.js';
import type { LineParts, Source, SourceHears } from './line.js';

/** How far services had come before this page read anything. */
export const start = document.querySelector<HTMLMetaElement>('meta[name=position]')?.content ?? '';

/** A position goes into an address, which shares the 16 KB of a request's head with its cookies. */
const POSITION_MAX = 8_192;

/** Everything is read again where a position does not fit. */
function stream(at: string, { onBeat, onMoved, onEnded, onFailed }: SourceHears): Source {
  const source = new EventSource(at === '' || at.length > POSITION_MAX ? '/events' : `/events?from=${at}`);
  source.onopen = onBeat;
  source.addEventListener('beat', onBeat);
  source.addEventListener('moved', ({ data, lastEventId }: MessageEvent<unknown>) => {
    onMoved(read(data), lastEventId);
  });
  source.addEventListener('ended', ({ data }: MessageEvent<unknown>) => {
    onEnded(read(data));
  });
  source.onerror = () => {
    onFailed(source.readyState === EventSource.CLOSED);
  };
  return source;
}

function read(data: unknown): unknown {
  return typeof data === 'string' ? JSON.parse(data) : null;
}

const LINE = 'recourse.line';
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(LINE) : null;

/** Hears what other pages of this browser say. */
export function onSaid(hear: (said: unknown) => void): void {
  channel?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    hear(data);
  });
}

/** Browsers lock for pages over TLS and of this machine alone: elsewhere each page has a stream of its own. */
const canShare = 'locks' in navigator && channel !== null;

export function linePartsOf(who: () => Promise<Who>): LineParts {
  return {
    stream,
    turn: async (hold, isTaken) => {
      if (canShare) await navigator.locks.request(LINE, { steal: isTaken }, hold);
      else await hold();
    },
    tell: (said) => {
      if (canShare) channel.postMessage(said);
    },
    who,
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

/** Calls once no other page of this browser is called so. */
export async function alone(act: () => Promise<void>): Promise<void> {
  if (canShare) await navigator.locks.request('recourse.sign-in', act);
  else await act();
}

/** Resolves once somebody looks at this page. */
export function seen(): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener(
      'visibilitychange',
      () => {
        resolve();
      },
      { once: true },
    );
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
