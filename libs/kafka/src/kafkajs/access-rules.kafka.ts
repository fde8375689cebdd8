// Rules of access over kafkajs: its numbers for Kafka's words, and the difference between what is and what shall be.
import kafkajs from 'kafkajs';
import type { AclEntry, AclFilter, Admin } from 'kafkajs';
import type { AccessRule } from '../kafka.port.js';
import { protocolErrorType } from './failures.kafka.js';

// Names of its own module object: what Node finds of them by reading the file ends before these.
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const EVERY_RULE: AclFilter = {
  resourceType: AclResourceTypes.ANY,
  resourcePatternType: ResourcePatternTypes.ANY,
  operation: AclOperationTypes.ANY,
  permissionType: AclPermissionTypes.ANY,
};

/** Every rule; null where the cluster has no authorizer. Errors: those of kafkajs. */
export async function fetchAccessRules(admin: Admin): Promise<readonly AccessRule[] | null> {
  const answer = await admin.describeAcls(EVERY_RULE).catch((error: unknown) => {
    if (protocolErrorType(error) === 'SECURITY_DISABLED') return null;
    throw error;
  });
  return (
    answer?.resources.flatMap(({ resourceType, resourceName, resourcePatternType, acls }) =>
      acls.map(({ principal, host, operation, permissionType }) => ({
        principal,
        host,
        // What Kafka has a number for, kafkajs has a word for, and so has the port.
        permission: wordFor(permissionType, AclPermissionTypes) as AccessRule['permission'],
        operation: wordFor(operation, AclOperationTypes) as AccessRule['operation'],
        resource: wordFor(resourceType, AclResourceTypes) as AccessRule['resource'],
        name: resourceName,
        pattern: wordFor(resourcePatternType, ResourcePatternTypes) as AccessRule['pattern'],
      })),
    ) ?? null
  );
}

/** kafkajs has the words as keys only, whatever its types say. */
function wordFor(number: number, words: Readonly<Record<string, string | number>>): string {
  return Object.entries(words).find(([, value]) => value === number)?.[0] ?? String(number);
}

/** Adds what is missing before it takes away what is too much. Errors: those of kafkajs. */
export async function makeAccessRules(admin: Admin, wanted: readonly AccessRule[]): Promise<void> {
  const found = (await fetchAccessRules(admin)) ?? [];
  const missing = without(wanted, found);
  // Also when nothing is missing: a cluster without an authorizer has to say so.
  await admin.createAcls({ acl: (missing.length > 0 ? missing : wanted).map(entryOf) });
  const surplus = without(found, wanted);
  if (surplus.length > 0) await admin.deleteAcls({ filters: surplus.map(entryOf) });
}

function without(rules: readonly AccessRule[], others: readonly AccessRule[]): readonly AccessRule[] {
  const known = new Set(others.map(keyOf));
  return rules.filter((rule) => !known.has(keyOf(rule)));
}

function keyOf({ principal, host, permission, operation, resource, name, pattern }: AccessRule): string {
  return JSON.stringify([principal, host, permission, operation, resource, name, pattern]);
}

function entryOf({ principal, host, permission, operation, resource, name, pattern }: AccessRule): AclEntry {
  return {
    principal,
    host,
    permissionType: AclPermissionTypes[permission],
    operation: AclOperationTypes[operation],
    resourceType: AclResourceTypes[resource],
    resourceName: name,
    resourcePatternType: ResourcePatternTypes[pattern],
  };
}
