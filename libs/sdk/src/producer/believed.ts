// What nobody would believe does not leave, and whoever was about to act on it hears so before: it would be dropped by its readers, and
// nobody would tell whoever sent it.
//
// Boundary: pure, but for the look at this process's own keyring, which may be older than that of those who read.
import { Failure } from '@recourse/kernel';
import { speakerProblem } from '@recourse/messages';
import type { WireProducer } from '@recourse/kafka';

/** Errors: Failure(KEY_NOT_BELIEVED) for a record that the key of this process may not say, or while it speaks for nobody. */
export function refuseUnbelieved(wire: Pick<WireProducer, 'speaker'>, type: string, body: object): void {
  const speaker = wire.speaker?.();
  // Any object may be read by name.
  const problem =
    speaker === undefined ? null : speakerProblem(speaker, type, body as Readonly<Record<string, unknown>>);
  if (problem !== null)
    throw new Failure('KEY_NOT_BELIEVED', `${problem}: nobody would believe it, and it is not sent`);
}
