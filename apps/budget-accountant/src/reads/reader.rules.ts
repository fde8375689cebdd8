// What somebody who reads a question about a ceiling may say to it: the edge's table and the decider's refusals, asked beforehand.
//
// Boundary: pure; holds no rule of its own but what a question asks. What is refused here the command would be refused with.
import { offersOf } from '@recourse/service';
import type { Offers, Reader } from '@recourse/service';
import type { Escalation } from '../rules/budget/budget.messages.js';
import { idleWord } from '../rules/budget/escalation.decider.js';
import type { DecideFacts } from '../rules/budget/escalation.decider.js';

const ROUTE = 'POST /v1/escalations/:id/decide';

/** What each word sends; they are those of the command line. */
const WORDS = {
  approve: { approved: true, raise_once: false },
  'raise-once': { approved: true, raise_once: true },
  deny: { approved: false, raise_once: false },
} as const;
type Word = keyof typeof WORDS;

/** What this reader may say, to the question as it is read. */
export function wordsOfEscalation(
  escalation: Escalation,
  { reader, ...facts }: Pick<DecideFacts, 'now' | 'ceilingOf'> & { readonly reader: Reader },
): Offers {
  const { tenant } = escalation;
  const people = {
    ownersOf: (agent: string) => reader.ownersOf(tenant, agent),
    editorsOf: (digest: string) => reader.editorsOf(tenant, Buffer.from(digest, 'hex')),
  };
  const judged = offered(escalation).map((word) => {
    const said = { ...WORDS[word], action_digest: null, envelope: { ...reader, tenant } };
    const answer = idleWord(said, escalation, { ...facts, ...people });
    return { word, refusal: reader.refusedAt(ROUTE) ?? (answer?.kind === 'rejected' ? answer.rejection : null) };
  });
  return offersOf(judged);
}

/** What a question asks: what has happened may be let stand also after a no. */
function offered({ phase, about }: Escalation): readonly Word[] {
  if (phase === 'denied' && about === 'overrun') return ['approve'];
  if (phase !== 'open') return [];
  return about === 'ceiling' ? ['approve', 'raise-once', 'deny'] : ['approve', 'deny'];
}
