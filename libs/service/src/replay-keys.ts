// Whom a process believes that reads logs for the command line: what it is told, as it is told of Kafka's users. Its own variables may
// be of another stack.
import { signingFrom } from '@recourse/kafka';
import type { Signing } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { ownerOfLog } from '@recourse/messages';
import { z } from 'zod';

/** By whose keys records count; `strict` without a keyring is refused. */
export const keysTold = z.strictObject({ wires: z.enum(['strict', 'open']), keyring_file: z.string().nullable() });

/** It signs nothing. Null: everybody is believed. Errors: Failure(KEYRING_INVALID). */
export function signingTold({ wires, keyring_file: keyringFile }: z.infer<typeof keysTold>): Signing | null {
  const places = { wires, keyringFile: keyringFile ?? undefined, signingKeyFile: undefined, signingKeyId: undefined };
  return signingFrom(places, { ownerOf: ownerOfLog, clock: systemClock });
}
