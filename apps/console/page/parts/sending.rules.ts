// What happens to what was typed while its command is on its way.
import type { Outcome, Taken } from '../api/outcome.js';

export interface Said {
  readonly reason: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly key: string;
}

export interface Way {
  readonly send: (said: Said) => Promise<Outcome>;
  /** Asks what came of it. Errors: ApiProblem, the refusal of the command. */
  readonly settle: (taken: Taken) => Promise<Outcome>;
  readonly onTaken: (taken: Taken) => void;
  readonly forget: () => void;
  readonly write: (name: string, text: string) => void;
}

/** Sends, and asks. A command that was taken leaves nothing behind that could be sent again under another key, unless it is refused. */
export async function sent(said: Said, { send, settle, onTaken, forget, write }: Way): Promise<Outcome> {
  const outcome = await send(said);
  forget();
  if (outcome === 'done') return outcome;
  onTaken(outcome);
  try {
    return await settle(outcome);
  } catch (cause) {
    for (const [name, text] of Object.entries(said.fields)) write(name, text);
    throw cause;
  }
}
