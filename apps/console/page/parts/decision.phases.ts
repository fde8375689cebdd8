// How far a window is with its command. Pure.

export const PHASES = ['asking', 'sending', 'taken', 'unknown'] as const;
export type Phase = (typeof PHASES)[number];

/** May it be closed? Not while it sends: what somebody clicked on would end unseen, and the next window send it under another key. */
export const MAY_CLOSE = {
  asking: true,
  sending: false,
  taken: true,
  unknown: true,
} as const satisfies Record<Phase, boolean>;
