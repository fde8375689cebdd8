// What nobody would believe does not leave, and whoever was about to act on it hears so before: it would be dropped by its readers, and
// nobody would tell whoever sent it.
//
// Boundary: pure, but for the look at this process's own keyring, which may be older than that of those who read.
import { Failure } from '@recourse/kernel';
import { muteProblem, speakerProblem } from '@recourse/messages';
import type { WireProducer } from '@recourse/kafka';

/** KEY_NOT_BELIEVED of one record: of the same type the key may say others, so that waiting for another key would hold those up. */
export class NotForKey extends Failure {
  constructor(detail: string) {
    super('KEY_NOT_BELIEVED', detail);
  }
}

/** Errors: NotForKey, Failure(KEY_NOT_BELIEVED) for a record that the key of this process may not say, or while it speaks for nobody. */
export function refuseUnbelieved(wire: Pick<WireProducer, 'speaker'>, type: string, body: object): void {
  const speaker = wire.speaker?.();
  // Any object may be read by name.
  const problem =
    speaker === undefined ? null : speakerProblem(speaker, type, body as Readonly<Record<string, unknown>>);
  if (problem === null) return;
  const detail = `${problem}: nobody would believe it, and it is not sent`;
  const isMute = speaker === undefined || muteProblem(speaker, [type]) !== null;
  throw isMute ? new Failure('KEY_NOT_BELIEVED', detail) : new NotForKey(detail);
}
