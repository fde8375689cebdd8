// Who speaks to a secure stack: one user for each service and program, with a password in a file of its own (mode 0600).
//
// Boundary: says who there is and makes them; what each may do is libs/service/src/provision/access.ts.
import { createPublicKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessSpec as ExampleSpec } from '@recourse/example-drifted-refund';
import type { KafkaOptions, RegistryWriter } from '@recourse/kafka';
import { plannedAccess } from '@recourse/service/provision';
import type { ClusterPlan, ClusterUser } from '@recourse/service/provision';
import type { Kafka } from '@recourse/kafka';
import { publicKeyText } from '@recourse/kernel';
import { keyringFileOf, passwordFileOf, passwordOf, signingKeyOf } from './secrets.js';
import type { StackFacts } from './stack.js';
import { AUDITOR, NOTIFIER, SERVICES } from './system.plan.js';

/** Audits and checks for people at the command line. */
export const OPERATOR = 'operator';
/** Speaks for programs that have no user of their own: stories, and agents and sources that connect to the stack. */
export const AGENT = 'agent';

/** Hears of rollbacks, and acknowledges them, for programs that have no user of their own. */
const CONSUMER = 'consumer';

/** Every user of a stack. Pure. */
export function usersOf(examples: readonly ExampleSpec[], adapters: readonly string[]): readonly ClusterUser[] {
  const known: readonly ClusterUser[] = [
    ...[...SERVICES, NOTIFIER].map((name) => ({ as: 'service' as const, name })),
    { as: 'operator', name: OPERATOR },
    { as: 'auditor', name: AUDITOR },
    { as: 'producer', name: AGENT },
    { as: 'consumer', name: CONSUMER },
    ...adapters.map((adapter) => ({ as: 'worker' as const, name: `${adapter}-worker`, adapters: [adapter] })),
  ];
  const taken = new Set(known.map(({ name }) => name));
  const more = examples.flatMap(({ name, speaksAs }): readonly ClusterUser[] => {
    if (speaksAs === undefined || taken.has(name)) return [];
    return [speaksAs.as === 'worker' ? { name, ...speaksAs, adapters: [...speaksAs.adapters] } : { name, ...speaksAs }];
  });
  return [...known, ...more];
}

/** As whom the stack provisions; nobody in particular where nobody is asked. */
export function ownerAccess({ owner }: Pick<StackFacts, 'owner'>): Pick<KafkaOptions, 'sasl'> {
  if (owner === null) return {};
  return { sasl: { mechanism: 'plain', username: owner.name, password: contentOf(owner.passwordFile) } };
}

/** Who writes to the registry, where it asks. */
export function writerOf({ owner }: Pick<StackFacts, 'owner'>): RegistryWriter | null {
  return owner === null ? null : { username: owner.name, password: contentOf(owner.passwordFile) };
}

/** Lets the users of a plan in, with the rules that follow from it and no other. */
export async function makeUsers(kafka: Pick<Kafka, 'admin'>, plan: ClusterPlan, secrets: string): Promise<void> {
  if (plan.users === null) return;
  const admin = await kafka.admin();
  try {
    await admin.setPasswords(Object.fromEntries(plan.users.map(({ name }) => [name, passwordOf(secrets, name)])));
    await admin.applyAccess(plannedAccess(plan));
  } finally {
    await admin.close();
  }
}

/** What a process is told so that it speaks as a user; nothing on a stack that asks nobody. */
export function userVariables(
  { owner }: Pick<StackFacts, 'owner'>,
  dataDir: string,
  user: string,
): Readonly<Record<string, string>> {
  if (owner === null) return {};
  const secrets = join(dataDir, 'secrets');
  return {
    RECOURSE_KAFKA_USER: user,
    RECOURSE_KAFKA_PASSWORD_FILE: passwordFileOf(secrets, user),
    RECOURSE_WIRES: 'strict',
    RECOURSE_KEYRING_FILE: keyringFileOf(secrets),
    RECOURSE_SIGNING_KEY_FILE: signingKeyOf(secrets, user),
    RECOURSE_SIGNING_KEY_ID: user,
  };
}

/** Writes the keyring of a secure stack: a key for each user, which speaks as what the user is, for all tenants. */
export function makeKeyring({ users }: ClusterPlan, secrets: string): void {
  if (users === null) return;
  const keys = users.flatMap((user) => {
    if (user.as === 'operator') return [];
    const key = createPublicKey(readFileSync(signingKeyOf(secrets, user.name)));
    const entry = { id: user.name, public_key: publicKeyText(key), speaks_as: rolesOf(user) };
    return [{ ...entry, names: namesOf(user), tenants: ['*'] }];
  });
  writeFileSync(keyringFileOf(secrets), `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o644 });
}

/** A consumer may say what it did about what it heard. */
function rolesOf(user: ClusterUser): readonly string[] {
  const { as } = user;
  if (as === 'worker' && user.observes === true) return ['observer'];
  if (as === 'consumer') return ['consumer', 'producer'];
  // It writes a log, as services do.
  return as === 'auditor' ? ['service'] : [as];
}

/** Names a user's key may use: agents, sources and people of a development stack are whoever the stories say. */
function namesOf(user: ClusterUser): readonly string[] {
  if (user.as === 'worker') return user.adapters;
  return user.as === 'producer' || user.as === 'critic' || user.as === 'consumer' ? ['*'] : [user.name];
}

function contentOf(file: string): string {
  return readFileSync(file, 'utf8').trim();
}
