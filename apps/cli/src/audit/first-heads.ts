// Waits for the first head of a log that has only begun: nobody else can tell it from one whose heads were taken away.

/** How long a log at the brokers may lack its first head, milliseconds: an auditor signs every five seconds unless told, and may be starting. */
const WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 1_000;

/** What a look found: what is trusted, and how many logs hold records that no head of it covers. */
export interface HeadsLook<T> {
  readonly trusted: T;
  readonly open: number;
}

export interface Waiting {
  readonly now: () => number;
  readonly rest: (ms: number) => Promise<void>;
  /** Told once, where there is anything to wait for. */
  readonly onWait: (open: number) => void;
}

/** What is trusted once every log has a head, or when the time is over. Errors: those of a look. */
export async function withFirstHeads<T>(look: () => Promise<HeadsLook<T>>, { now, rest, onWait }: Waiting): Promise<T> {
  let found = await look();
  if (found.open === 0) return found.trusted;
  onWait(found.open);
  for (const end = now() + WITHIN_MS; found.open > 0 && now() < end; found = await look()) await rest(LOOK_EVERY_MS);
  return found.trusted;
}
