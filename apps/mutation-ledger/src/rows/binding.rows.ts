// Rows of bindings: what a mutation or a commit relies on, by ref.
import type { Change, Doc, StateView } from '@recourse/event-log';
import type { JudgedRef } from '@recourse/messages';
import type { Binding } from '../rules/mutation/mutation.messages.js';
import { refScope } from '../rules/identity.js';

/** All bindings of a ref, in no order. */
export function bindingsIn(state: StateView, scope: string): readonly Binding[] {
  return state.all('binding', scope) as readonly Binding[]; // putBinding alone writes rows of this kind
}

/** Bindings of a ref, what was recorded last first; those recorded before `below` where that is given. What is not recorded yet comes last. */
export function* bindingsLastFirst(state: StateView, scope: string, below: number | null): Generator<Binding> {
  for (const doc of state.lastFirst('binding', scope, below)) yield doc as Binding; // as above
}

/** Place of a binding among those of its ref: that of its commit in this log. */
export function placeOfBinding(doc: Doc): number | null {
  return (doc as Binding).recorded_seq ?? null; // as above
}

/** The binding of a mutation or commit to a ref. */
export function bindingIn(state: StateView, scope: string, id: string): Binding | undefined {
  return state.get('binding', scope, id) as Binding | undefined; // as above
}

/** Where a binding begins: what was judged not to hold then has contradicted it, and is told when it holds again. */
export function beginningAt({ position, verdict }: JudgedRef): Pick<Binding, 'position' | 'is_contradicted'> {
  return verdict === 'invalidated' ? { position, is_contradicted: true } : { position };
}

/** Puts a binding. */
export function putBinding(binding: Binding): Change {
  const group = refScope(binding.tenant, binding.ref);
  return { op: 'put', row: { kind: 'binding', group, key: binding.mutation_id, dueAt: null, doc: binding } };
}
