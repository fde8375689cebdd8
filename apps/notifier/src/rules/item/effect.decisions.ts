// What waits for people about one effect and about those who are to hear of its rollback.
import { movedIn } from '@recourse/messages';
import type { BodyOf, Fallen, RecordTypeOf } from '@recourse/messages';
import { bare, deliveryIdOf, divergenceIdOf, ends, mutationOf, opens } from './item.decisions.js';
import { capabilityOf, keyOf, runbookOf } from './item.messages.js';
import type { Known, Place, Thing, ThingChange } from './item.messages.js';

type Mutations<Type extends RecordTypeOf<'recourse.mutations'>> = BodyOf<'recourse.mutations', Type>;

/** What a person is asked of an effect, by how it ended. */
/** Who looks at effects that took hold; their record names nobody. The ledger's own words for it are the same. */
const OWNER_OF_EXPOSED = 'role:operator';

const ASKED = { succeeded: 'exposure', failed: 'escalated' } as const;

/**
 * Somebody told how it ended; what took hold and cannot be taken back by anything automatic is a person's, and so is a call
 * that failed and that its agent gives to a person.
 */
export function recordEffect(body: Mutations<'MutationRecorded'>, known: Known, place: Place): readonly ThingChange[] {
  const { mutation_id, execution, execution_state, review_by, reason, terms } = body;
  if (review_by === null) return ends(known, mutationOf(body));
  const effect = effectThing(mutation_id, execution, { ...execution, runbook: terms?.compensation?.runbook ?? null });
  // What stands behind a colon names fields of the user's, or a kind of error.
  const [code = '', kind = ''] = (reason ?? '').split(':');
  const asked = execution_state === 'succeeded' || execution_state === 'failed' ? ASKED[execution_state] : 'execution';
  const asking = { owner: OWNER_OF_EXPOSED, deadline_at: review_by, reason: code === 'ESCALATED' ? kind : code };
  return opens(effect, asked, asking, place);
}

function effectThing(
  id: string,
  of: { readonly tenant: string; readonly run_id: string },
  { capability, runbook }: { readonly capability: string; readonly runbook: string | null },
): Thing {
  return { ...bare('mutation', id, of), capability: capabilityOf(capability), runbook: runbookOf(runbook) };
}

/** Nobody told how it ended, and no worker could. */
export function askForOutcome(body: Mutations<'ExecutionOverdue'>, known: Known, place: Place): readonly ThingChange[] {
  const { mutation_id: id, execution_state, owner, deadline_at } = body;
  return opens(
    // A look that found nothing out leaves the question where it was.
    known(keyOf({ thing: 'mutation', id })) ?? effectThing(id, body, body),
    'execution',
    { owner, deadline_at, reason: `EXECUTION_${execution_state}` },
    place,
  );
}

/** Somebody else named its handle first: nothing automatic undoes it. */
export function askAboutHandle(body: Mutations<'HandleJudged'>, known: Known, place: Place): readonly ThingChange[] {
  const { mutation_id: id, review_by } = body;
  if (review_by === null) return [];
  const effect = known(keyOf({ thing: 'mutation', id })) ?? bare('mutation', id, body);
  const asking = { owner: OWNER_OF_EXPOSED, deadline_at: review_by, reason: 'HANDLE_CLAIMED' };
  return opens(effect, 'exposure', asking, place);
}

/** It can be taken back, for a short while only. */
export function warnOfEnd(body: Mutations<'WindowClosing'>, _known: Known, place: Place): readonly ThingChange[] {
  const { mutation_id, owner, closes_at: deadline_at } = body;
  const asking = { owner, deadline_at, reason: 'WINDOW_CLOSING' };
  return opens(effectThing(mutation_id, body, body), 'window', asking, place);
}

/** A window that closed, or that was used, is no warning any more. */
export function endWarnings(body: Mutations<'RecoverabilityChanged'>, known: Known): readonly ThingChange[] {
  const keys = movedIn(body).flatMap(mutationOf);
  return ends(
    known,
    keys.filter((key) => known(key)?.item?.kind === 'window'),
  );
}

/** Keys of an effect that took hold and now falls: what becomes of it is its recovery's to ask. */
export function exposedBy(fallen: Fallen): readonly string[] {
  return fallen.execution_state === 'succeeded' ? mutationOf(fallen) : [];
}

/** A consumer did not say in time that it heard of a rollback. */
export function askForConsumer(
  body: Mutations<'DeliveryOverdue'>,
  _known: Known,
  place: Place,
): readonly ThingChange[] {
  return opens(bare('delivery', deliveryIdOf(body), body), 'delivery', { ...body, reason: 'CONSUMER_SILENT' }, place);
}

/** A runtime keeps what fell. Its name is its owner's words; what waits goes by an id of it. */
export function askForRuntime(
  { tenant, runtime, owner, deadline_at }: Mutations<'LineageReconciled'>,
  known: Known,
  place: Place,
): readonly ThingChange[] {
  if (deadline_at === null || owner === null) return [];
  const id = divergenceIdOf({ tenant, runtime });
  const thing = known(keyOf({ thing: 'runtime', id })) ?? bare('runtime', id, { tenant, run_id: '' });
  return opens(thing, 'divergence', { owner, deadline_at, reason: 'RUNTIME_DIVERGES' }, place);
}
