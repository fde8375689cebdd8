// Rows of bindings: what a mutation or a commit relies on, by ref.
import type { Change, StateView } from '@recourse/event-log';
import type { Binding } from '../rules/mutation/mutation.messages.js';
import { refScope } from '../rules/scope.js';

/** All bindings of a ref, in no order. */
export function bindingsIn(state: StateView, scope: string): readonly Binding[] {
  return state.all('binding', scope) as readonly Binding[]; // putBinding alone writes rows of this kind
}

/** The binding of a mutation or commit to a ref. */
export function bindingIn(state: StateView, scope: string, id: string): Binding | undefined {
  return state.get('binding', scope, id) as Binding | undefined; // as above
}

/** Puts a binding. */
export function putBinding(binding: Binding): Change {
  const group = refScope(binding.tenant, binding.ref);
  return { op: 'put', row: { kind: 'binding', group, key: binding.mutation_id, dueAt: null, doc: binding } };
}
