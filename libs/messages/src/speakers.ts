// Who may say what on a wire: the role, the names and the tenants that the key of a record must have. Pure.
//
// Boundary: a signature says whose key it is; this says whether that key may speak so. Whoever reads asks it, and whoever writes asks first.
// Without signatures nobody asks.
import { speaksFor, speaksUnder } from '@recourse/kernel';
import type { Speaker, SpeakerRole } from '@recourse/kernel';

type Doc = Readonly<Record<string, unknown>>;

/** Who may send records of a type: services of ours by name, for all; others by role, and the member that says under which name. */
interface Rule {
  readonly services?: readonly string[];
  readonly roles: readonly SpeakerRole[];
  /** Path of the name; null where a role alone says enough, or the name stands in what is answered. */
  readonly name: readonly string[] | null;
}

const EXECUTION: Rule = { roles: ['producer'], name: ['agent_id'] };
const CHECKPOINT: Rule = { roles: ['producer'], name: ['checkpoint', 'agent_id'] };
/** It counts where it is the one that its checkpoint told of, by its hash. */
const CHUNK: Rule = { roles: ['producer'], name: null };
const STATEMENT: Rule = { roles: ['producer', 'source', 'critic'], name: ['source'] };

/** By record type. What is not in it is a command, or nobody's. */
const RULES: Readonly<Record<string, Rule>> = {
  ToolPlanned: EXECUTION,
  ToolExecuted: EXECUTION,
  CheckpointTaken: CHECKPOINT,
  StateChunk: CHUNK,
  AssumptionDeclared: STATEMENT,
  AssumptionInvalidated: STATEMENT,
  AssumptionReaffirmed: STATEMENT,
  // An agent never says itself how it did.
  AgentSignalled: { roles: ['source', 'critic'], name: ['source'] },
  OutcomeRecorded: STATEMENT,
  LegReported: { roles: ['worker', 'observer'], name: null },
  /** Another's answer about a name would have what was made with it fall. */
  HandleNamed: { services: ['mutation-ledger'], roles: [], name: null },
  RollbackAcknowledged: { roles: ['consumer'], name: ['consumer'] },
};
/** Commands come from the services that have an edge, and carry its signature beside; a critic sends them itself. */
const COMMAND: Rule = {
  services: ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'],
  roles: ['critic'],
  name: ['envelope', 'principal'],
};
const NOBODY: Rule = { roles: [], name: null };

/** Why this key may not say this; null when it may. A service of ours says for all what it sends, and nothing else. */
export function speakerProblem(speaker: Speaker, type: string, body: Doc): string | null {
  const rule = RULES[type] ?? (body['envelope'] === undefined ? NOBODY : COMMAND);
  if (isServiceOf(rule, speaker)) return null;
  if (!hasRoleOf(rule, speaker))
    return `the key ${speaker.keyId} speaks as ${speaker.roles.join(', ')}; ${type} is not for it to say`;
  const tenant = at(body, ['tenant']) ?? at(body, ['envelope', 'tenant']);
  if (typeof tenant !== 'string' || !speaksFor(speaker, tenant))
    return `the key ${speaker.keyId} does not speak for the tenant ${String(tenant)}`;
  if (rule.name === null) return null;
  const name = at(body, rule.name);
  return typeof name === 'string' && speaksUnder(speaker, name)
    ? null
    : `the key ${speaker.keyId} does not speak under the name ${String(name)}`;
}

/** Why a key may say nothing of these types, whatever it would say; null when it may say one of them. */
export function muteProblem(speaker: Speaker, types: readonly string[]): string | null {
  const rules = types.map((type) => RULES[type] ?? COMMAND);
  return rules.some((rule) => isServiceOf(rule, speaker) || hasRoleOf(rule, speaker))
    ? null
    : `the key ${speaker.keyId} speaks as ${speaker.roles.join(', ')}, and nothing that this topic takes is for it to say`;
}

function isServiceOf({ services = [] }: Rule, speaker: Speaker): boolean {
  return speaker.roles.includes('service') && services.some((name) => speaksUnder(speaker, name));
}

function hasRoleOf({ roles }: Rule, speaker: Speaker): boolean {
  return roles.some((role) => speaker.roles.includes(role));
}

function at(body: Doc, path: readonly string[]): unknown {
  let value: unknown = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Doc)[name];
  }
  return value;
}
