// What a page does once its session is over: by why it is, and by who is signed in at this browser then.
//
// Invariants
//   N1. Nobody leaves a window whose command is on its way, or whose outcome has not been read.
//   N2. Who signed out is signed in again by nobody but themselves, whatever end their page was seeing to before.
//   N3. One page at a time leaves for the issuer, and only one that somebody looks at: where it brought somebody back, the others go on.
import * as z from 'zod/mini';

/** As the console says it; `lost` where it says nothing, since it restarted. */
export const ENDS = ['sign-out', 'sign-in', 'expiry', 'lost'] as const;
export type End = (typeof ENDS)[number];

/** Who is signed in now, beside whom the page shows; unknown while nobody answers. */
export type Who = 'same' | 'another' | 'nobody' | 'unknown';

const ENDED = z.object({ by: z.enum(ENDS) });

/** Reads why a session ended. */
export function endOf(data: unknown): End {
  return ENDED.safeParse(data).data?.by ?? 'lost';
}

type Doing = 'goOn' | 'reload' | 'signIn' | 'stay' | 'leave';

/** `stay` says what is so, and leaves the next step to the person. */
export const DOING = {
  expiry: { same: 'goOn', another: 'reload', nobody: 'signIn' },
  'sign-in': { same: 'goOn', another: 'reload', nobody: 'stay' },
  lost: { same: 'goOn', another: 'reload', nobody: 'stay' },
} as const satisfies Record<Exclude<End, 'sign-out'>, Record<Exclude<Who, 'unknown'>, Doing>>;

/** A page that is left is left for good: that never resolves. */
export interface Ways {
  /** Resolves once no window holds the page. */
  readonly free: () => Promise<void>;
  /** Resolves once somebody looks at the page. */
  readonly seen: () => Promise<void>;
  /** Calls once no other page of the browser is called so. */
  readonly alone: (act: () => Promise<void>) => Promise<void>;
  readonly who: () => Promise<Who>;
  /** Did the person sign out meanwhile? */
  readonly isSignedOut: () => boolean;
  readonly pause: () => Promise<void>;
  /** Forgets what was typed, and goes where nobody is signed in. */
  readonly leave: () => Promise<void>;
  readonly reload: () => Promise<void>;
  readonly signIn: () => Promise<void>;
  readonly goOn: () => void;
  readonly stay: () => void;
}

/** Does what is to be done. */
export async function endedBy(end: End, ways: Ways): Promise<void> {
  await ways.free();
  if (end === 'sign-out' || ways.isSignedOut()) {
    await ways.leave();
    return;
  }
  if (end === 'expiry') await ways.seen();
  // The browser may not have its new session yet.
  else await ways.pause();
  await ways.alone(async () => {
    await ways[await doingAfter(end, ways)]();
  });
}

async function doingAfter(end: keyof typeof DOING, { who, isSignedOut, pause }: Ways): Promise<Doing> {
  for (;;) {
    const found = await who();
    if (isSignedOut()) return 'leave';
    if (found !== 'unknown') return DOING[end][found];
    await pause();
  }
}
