// Which facts an item lacks that somebody would need to agree to it (C63).
//
// Boundary: pure; judges what the row of a step says. Whether a sealed payload can be opened is its reader's to see.
import { isUnsaid } from '@recourse/contract';
import type { StepDoc } from './step.messages.js';

/** Facts without which nobody can decide, as far as the row of a step tells. */
export type FactLacked = 'objective' | 'resource' | 'facts.then' | 'facts.now';

/** The facts a step lacks. */
export function factsLacked({
  execution,
  ref,
  evidence,
}: Pick<StepDoc, 'execution' | 'ref' | 'evidence'>): readonly FactLacked[] {
  const lacks: Readonly<Record<FactLacked, boolean>> = {
    objective: isUnsaid(execution.objective),
    resource: ref.subject_ref === null && ref.external_transaction_ref === null,
    'facts.then': evidence.ref !== null && ref.assumption_refs.length === 0,
    'facts.now': evidence.ref === null && evidence.statement === null,
  };
  return (['objective', 'resource', 'facts.then', 'facts.now'] as const).filter((fact) => lacks[fact]);
}
