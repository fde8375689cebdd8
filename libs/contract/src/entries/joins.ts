// What a tenant's entry and the platform's of the same name say together: the tenant's tightens and never loosens (docs/design/contracts.md).
import type { EntryKind } from '@recourse/messages';
import { SENSITIVITIES } from '../consequence.js';
import { joinedAutonomy } from './autonomy.js';
import type { EntryBody } from './shapes.js';

type Join<Kind extends EntryKind> = (own: EntryBody<Kind>, platform: EntryBody<Kind>) => EntryBody<Kind>;

const JOINS: { readonly [Kind in EntryKind]: Join<Kind> } = {
  /** Every predicate of both must hold, and the rules of both ask for people. */
  policy_bundle: (own, platform) => ({
    ...own,
    admission: [...platform.admission.map(ofPlatform), ...own.admission],
    recovery: [...platform.recovery.map(ofPlatform), ...own.recovery],
  }),
  /** What lives shorter, weighs less and carries less. */
  context_source: (own, platform) => ({
    ...own,
    ttl_ms: Math.min(own.ttl_ms, platform.ttl_ms),
    ...lighter(own.trust_permille, platform.trust_permille),
    sensitivity: [own.sensitivity, platform.sensitivity].sort((a, b) => rank(a) - rank(b))[0] ?? own.sensitivity,
  }),
  autonomy_policy: joinedAutonomy,
  // These are found by what they are about, and each counts by itself.
  agent_charter: (own) => own,
  kill_switch: (own) => own,
  subscription: (own) => own,
};

/** The tenant's entry with what the platform's of the same name demands beside it. */
export function tightened<Kind extends EntryKind>(
  kind: Kind,
  own: EntryBody<Kind>,
  platform: EntryBody<Kind> | undefined,
): EntryBody<Kind> {
  return platform === undefined ? own : JOINS[kind](own, platform);
}

function ofPlatform<Rule extends { readonly name: string }>(rule: Rule): Rule {
  return { ...rule, name: `platform/${rule.name}` };
}

function lighter(own: number | undefined, platform: number | undefined): { readonly trust_permille?: number } {
  const known = [own, platform].filter((weight) => weight !== undefined);
  return known.length === 0 ? {} : { trust_permille: Math.min(...known) };
}

/** Public is below whatever is marked. */
function rank(sensitivity: EntryBody<'context_source'>['sensitivity']): number {
  return SENSITIVITIES.findIndex((each) => each === sensitivity);
}
