// The time as all of the page sees it: one tick a second, and only while somebody looks.
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** The time when its minute began: who shows no seconds is drawn once a minute. */
export function useMinute(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / MINUTE_MS) * MINUTE_MS);
}
const MINUTE_MS = 60_000;

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A length of time in its two largest units: `2 h 5 min`. */
export function lengthOf(ms: number): string {
  const rest = Math.max(0, ms);
  const at = UNITS.findIndex(([, size]) => rest >= size);
  const [unit, size] = UNITS[at] ?? ['s', 1_000];
  const whole = Math.floor(rest / size);
  const next = UNITS[at + 1];
  const small = next === undefined || at < 0 ? 0 : Math.floor((rest - whole * size) / next[1]);
  const first = `${whole} ${unit}`;
  return small === 0 || next === undefined ? first : `${first} ${small} ${next[0]}`;
}

export function relative(at: number, to: number): string {
  const ms = at - to;
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `in ${lengthOf(ms)}` : `${lengthOf(-ms)} ago`;
}
