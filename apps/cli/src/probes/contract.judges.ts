// What probes conclude about contracts. Pure.
import { isAutomated, isUndoable, provingNothing, windowOf } from '@recourse/contract';
import { personKey } from '@recourse/kernel';
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { countText } from '../output/count-text.js';
import { lintDocuments } from '../contracts/lint.js';
import { fail, none, partial, pass, worst } from './probe.js';
import type { Finding } from './probe.js';
import { agentOf, ALL, chartersOf, covers, textsOf, valueOf } from './scope.js';
import type { Scope } from './scope.js';
import type { Standing } from './seen.js';

const NO_CAPABILITY = 'no capability on record, in a charter or among the tools named: nothing could be looked at';

const counted = (list: readonly unknown[], one: string, many: string): string => countText(list.length, one, many);
const label = ({ name, version }: Standing): string => `${name} version ${String(version)}`;

/** Every capability has a contract that stands, and what acts has a class (A94). */
export function classified({ capabilities, uses, contracts, acting }: Scope): Finding {
  if (capabilities.length === 0) return fail(NO_CAPABILITY);
  const known = new Set(contracts.map(({ name }) => name));
  const isBound = (name: string, where: string): boolean =>
    contracts.some((one) => one.name === name && covers(one.tenant, where));
  return none(
    [
      ...capabilities.filter((name) => !known.has(name)).map((name) => `${name}: no contract stands`),
      ...uses
        .filter(({ name, tenant }) => known.has(name) && !isBound(name, tenant))
        .map(({ name, tenant }) => `${name}: no contract stands for ${tenant}`),
      ...acting
        .filter(({ contract }) => contract.reversal_class === undefined)
        .map((one) => `${label(one)}: no reversal_class`),
    ],
    counted(capabilities, 'capability has a contract and a class', 'capabilities have a contract and a class'),
  );
}

/** Contracts that stand keep every rule that a registration asks (A24, G22): who loosened a registry is seen by it. */
export function ruled({ seen }: Scope): Finding {
  const standing = valueOf(seen.contracts);
  if (standing.length === 0) return fail('no contract stands');
  const reports = lintDocuments(standing.map((one) => ({ file: label(one), value: withoutTenant(one) })));
  return none(
    reports.flatMap(({ file, problems }) =>
      problems.map(({ code, path }) => `${file}: ${code}${path === undefined || path === '' ? '' : ` at ${path}`}`),
    ),
    counted(standing, 'contract keeps the rules of registration', 'contracts keep the rules of registration'),
  );
}

/** What can be undone has a window (A97). */
export function windowed({ acting }: Scope): readonly string[] {
  return acting
    .filter(({ contract }) => isUndoable(contract) && windowOf(contract) === null)
    .map((one) => `${label(one)}: no window`);
}

/** What cannot be undone is held, or a person is asked before (A100). */
export function gated({ acting }: Scope): Finding {
  if (acting.length === 0) return fail(NO_CAPABILITY);
  const irreversible = acting.filter(({ contract }) => contract.reversal_class === 'irreversible');
  return none(
    irreversible
      .filter(
        ({ contract: { commit_hold_ms: hold = 0, forward_approval: asked } }) =>
          hold === 0 && asked !== 'human' && asked !== 'dual_control',
      )
      .map((one) => `${label(one)}: irreversible, without a hold and without a person before it`),
    irreversible.length === 0
      ? 'none is irreversible'
      : counted(irreversible, 'irreversible one is held or asked about', 'irreversible ones are held or asked about'),
  );
}

/** Those of a name that serve a contract, by where it is used: what another tenant has under the name serves nobody else. */
function servingOf<Row extends Doc | Standing>(
  rows: readonly Row[],
  name: string,
  one: Standing,
  { uses }: Scope,
): readonly (readonly Row[])[] {
  const used = uses.filter((use) => use.name === one.name).map(({ tenant }) => tenant);
  const named = rows.filter((row) => row['name' as keyof Row] === name);
  return (one.tenant === ALL ? used : [one.tenant]).map((where) => named.filter((row) => covers(ownerOf(row), where)));
}

function stands(rows: readonly (Doc | Standing)[], name: string, one: Standing, scope: Scope): boolean {
  return servingOf(rows, name, one, scope).every((found) => found.length > 0);
}

function ownerOf({ tenant }: Doc | Standing): string {
  return typeof tenant === 'string' ? tenant : ALL;
}

const HIGH_IMPACT: readonly string[] = ['financial', 'destructive', 'security_sensitive'];

/** Undoing is governed: nothing of high impact goes alone, and policies that are named stand (A99). */
export function governed(scope: Scope): Finding {
  const { acting, seen } = scope;
  const undoable = acting.filter(({ contract }) => isUndoable(contract));
  const bundles = valueOf(seen.bundles);
  if (undoable.length === 0) return fail('no capability can be undone: nothing is governed');
  return none(
    undoable.flatMap((one) => {
      const { recovery_approval_mode: mode, impact, recovery_policy_ref: policy } = one.contract;
      return [
        ...(mode === 'auto' && HIGH_IMPACT.includes(impact)
          ? [`${label(one)}: ${impact}, and undone without a person`]
          : []),
        ...(policy === undefined || stands(bundles, policy, one, scope)
          ? []
          : [`${label(one)}: policy ${policy} does not stand`]),
      ];
    }),
    counted(undoable, 'is undone under its mode and policy', 'are undone under their mode and policy'),
  );
}

/** An undo is verified by a condition that tells it from none, by another capability that stands (A99). */
export function verifiable(scope: Scope): Finding {
  const { acting, seen } = scope;
  const contracts = valueOf(seen.contracts);
  const automated = acting.filter(({ contract }) => isAutomated(contract));
  if (automated.length === 0) return fail('no capability is undone by a worker: nothing is verified');
  return none(
    automated.flatMap((one) => {
      const { verification, inverse_capability: inverse, compensation_capability: compensation } = one.contract;
      if (verification === undefined) return [`${label(one)}: no verification`];
      const { verify_capability: by } = verification;
      return [
        ...(by === (inverse ?? compensation) ? [`${label(one)}: ${by} verifies itself`] : []),
        ...(stands(contracts, by, one, scope) ? [] : [`${label(one)}: ${by} has no contract`]),
        ...provingNothing(one.contract).map(({ path, what }) => `${label(one)}: ${what}, at ${path}`),
      ];
    }),
    counted(automated, 'reversal is verified by another capability', 'reversals are verified by another capability'),
  );
}

/** Before acting the resource is looked at, or the contract says why not (C51). */
export function looked({ acting }: Scope): Finding {
  const automated = acting.filter(({ contract }) => isAutomated(contract));
  if (automated.length === 0) return fail('no capability is undone by a worker: nothing is looked at');
  return none(
    automated
      .filter(({ contract }) => contract.stale_check === undefined && contract.unchecked_because === undefined)
      .map((one) => `${label(one)}: no stale_check`),
    counted(automated, 'looks before it acts, or says why not', 'look before they act, or say why not'),
  );
}

/** Caps per run: on calls, value and subjects, and a scope that is one tenant's (A99). */
export function capped({ acting }: Scope): Finding {
  if (acting.length === 0) return fail(NO_CAPABILITY);
  return worst(
    ...acting.map((one) => {
      const { blast_radius: caps, value } = one.contract;
      const lacking = [
        ...(caps?.max_calls_per_run === undefined ? ['calls'] : []),
        ...(value !== undefined && caps?.max_value_per_run === undefined ? ['value'] : []),
        ...(caps?.max_subjects_per_run === undefined ? ['subjects'] : []),
      ];
      if (caps === undefined) return fail(`${label(one)}: no blast_radius`);
      if (caps.scope === 'cross_tenant') return fail(`${label(one)}: one call may reach several tenants`);
      if (lacking.length > 0) return partial(`${label(one)}: no cap on ${lacking.join(', ')}`);
      return pass('calls, value, subjects and scope are capped per run');
    }),
  );
}

/** How a repeat is told from a second effect, and how an unknown end is found out (C9). */
export function repeatable({ acting }: Scope): Finding {
  if (acting.length === 0) return fail(NO_CAPABILITY);
  return none(
    acting.filter(({ contract }) => contract.idempotency === undefined).map((one) => `${label(one)}: no idempotency`),
    counted(acting, 'capability says how a repeat is told', 'capabilities say how a repeat is told'),
  );
}

export function reconcilable({ acting }: Scope): Finding {
  if (acting.length === 0) return fail(NO_CAPABILITY);
  return none(
    acting
      .filter(
        ({ contract }) =>
          contract.reconcile_capability === undefined && contract.idempotency?.key_lifetime_ms === undefined,
      )
      .map((one) => `${label(one)}: neither reconcile_capability nor a key`),
    counted(
      acting,
      'capability can be found out about, or repeated under its key',
      'capabilities can be found out about, or repeated under their key',
    ),
  );
}

/** Capabilities that contracts name for looking stand, and only read. */
export function observable(scope: Scope): Finding {
  const { acting, seen } = scope;
  const standing = valueOf(seen.contracts);
  const looking = acting.flatMap((one) => {
    const { verification, stale_check: stale, reconcile_capability: reconcile } = one.contract;
    return [verification?.verify_capability, stale?.observe_capability, reconcile].flatMap((name) =>
      name === undefined ? [] : [{ name, one }],
    );
  });
  const named = [...new Set(looking.map(({ name }) => name))];
  if (named.length === 0) return fail('no contract names a capability that looks');
  const problems = looking.flatMap(({ name, one }) => {
    const found = servingOf(standing, name, one, scope);
    if (found.some((each) => each.length === 0)) return [`${name}: named for looking, and no contract stands`];
    return found.flat().every(({ contract }) => contract.impact === 'read')
      ? []
      : [`${name}: named for looking, and it acts`];
  });
  return none(
    [...new Set(problems)],
    counted(named, 'capability that looks stands, and only reads', 'capabilities that look stand, and only read'),
  );
}

/** Arguments are described: the guard refuses what is not (C57). */
export function described({ contracts }: Scope): Finding {
  if (contracts.length === 0) return fail(NO_CAPABILITY);
  return none(
    contracts
      .filter(({ contract }) => Object.keys(docOf(contract.args_schema['properties'])).length === 0)
      .map((one) => `${label(one)}: args_schema has no properties`),
    counted(contracts, 'contract describes its arguments', 'contracts describe their arguments'),
  );
}

/** Every agent on record has a charter, and did nothing beyond it. */
export function chartered({ seen, effects, agent }: Scope): Finding {
  const charters = chartersOf(seen, agent);
  const agents = agent === null ? new Set(effects.map(agentOf)) : new Set([personKey(agent)]);
  if (agents.size === 0) return fail('no agent on record');
  const held = new Set(charters.map((charter) => personKey(charter.agent)));
  return none(
    [...agents].filter((one) => !held.has(one)).map((one) => `${one}: no charter`),
    `${countText(agents.size, 'agent has', 'agents have')} a charter`,
  );
}

/** Nobody writes the terms under which they act: neither an agent nor who it acts for registers contracts it acted under. */
export function apart({ seen, effects }: Scope): Finding {
  const standing = valueOf(seen.contracts);
  if (standing.length === 0) return fail('no contract stands');
  const actors = new Set(
    effects.flatMap((row) => [agentOf(row), personKey(String(docOf(row['execution'])['initiator']))]),
  );
  return none(
    [
      ...standing
        .filter(({ by }) => actors.has(personKey(by)))
        .map((one) => `${label(one)}: registered by ${one.by}, who acts`),
      ...standing
        .filter(({ by, confirmed_by }) => by === confirmed_by)
        .map((one) => `${label(one)}: ${one.by} confirmed it alone`),
    ],
    counted(
      standing,
      'contract was registered by people who do not act under it',
      'contracts were registered by people who do not act under them',
    ),
  );
}

/** Routine rules let nothing go alone that a person must see: every rule of a bundle names its caps. */
export function routine({ seen, acting }: Scope): Finding {
  const impactOf = new Map(acting.map(({ name, contract }) => [name, contract.impact] as const));
  const rules = valueOf(seen.bundles).flatMap((row) => {
    const body = docOf(row['entry'] ?? {});
    const list = Array.isArray(body['routine']) ? body['routine'].map(docOf) : [];
    return list.map((rule) => ({ bundle: String(row['name']), rule }));
  });
  return none(
    rules.flatMap(({ bundle, rule }) =>
      textsOf(rule['capabilities'])
        .filter((name) => HIGH_IMPACT.includes(impactOf.get(name) ?? ''))
        .map((name) => `${bundle}: ${String(rule['name'])} lets ${name} go, which is ${String(impactOf.get(name))}`),
    ),
    `${String(rules.length)} routine rules let nothing of high impact go`,
  );
}

/** As its author wrote it: the registry gives the version, and puts the tenant beside. */
function withoutTenant({ contract }: Standing): Parameters<typeof lintDocuments>[0][number]['value'] {
  return JSON.parse(JSON.stringify(contract)) as Parameters<typeof lintDocuments>[0][number]['value'];
}
