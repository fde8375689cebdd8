// deploy/helm/recourse/files/cluster.json: topics, and the rules of access of each user, which the chart makes Strimzi's resources of.
// They are those of libs/service/src/provision, which make the users of a secure development stack too.

/** Stands for a member's name, and for each adapter: the chart puts them in. */
const MEMBER = '@name';
const ADAPTER = '@adapter';
const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant', 'notifier'];
const ROLES = ['producer', 'worker', 'observer', 'consumer', 'critic', 'operator', 'auditor'];
const TYPES = { TOPIC: 'topic', GROUP: 'group', TRANSACTIONAL_ID: 'transactionalId', CLUSTER: 'cluster' };
const OPERATIONS = { READ: 'Read', WRITE: 'Write', DESCRIBE: 'Describe', DESCRIBE_CONFIGS: 'DescribeConfigs' };

/** The file. `built` imports a compiled module by its path from the root. */
export async function clusterFile(built) {
  const { plannedAccess, plannedTopics } = await built('libs/service/dist/provision/index.js');
  const adapters = [ADAPTER];
  const rulesOf = (user) => aclsOf(plannedAccess({ adapters, users: [user] }));
  const topics = plannedTopics({ adapters, partitions: 2, replication: 1, min_insync_replicas: 1 });
  const cluster = {
    comment: 'Written by scripts/reference.mjs from the rules in libs/service/src/provision; do not edit.',
    topics: topics.map(({ name, partitions, config: { 'min.insync.replicas': _own, ...config } }) => ({
      name,
      partitioned: partitions > 1,
      config,
    })),
    services: SERVICES.map((name) => ({ name, acls: rulesOf({ as: 'service', name }) })),
    roles: ROLES.map((role) => ({ name: role, acls: rulesOf(memberOf(role, adapters)) })),
  };
  return `${JSON.stringify(cluster, null, 2)}\n`;
}

/** Who observes is a worker. */
function memberOf(role, adapters) {
  const member = { as: role, name: MEMBER, adapters };
  return role === 'observer' ? { ...member, as: 'worker', observes: true } : member;
}

/** One entry per resource, with all that may be done to it, as Strimzi wants it. */
function aclsOf(rules) {
  const acls = new Map();
  for (const { resource, name, operation } of rules) {
    const type = TYPES[resource];
    const allowed = OPERATIONS[operation];
    if (type === undefined || allowed === undefined) throw new Error(`Strimzi knows no ${operation} on ${resource}`);
    const acl = acls.get(`${type} ${name}`) ?? { type, name, operations: [] };
    acls.set(`${type} ${name}`, { ...acl, operations: [...acl.operations, allowed] });
  }
  return [...acls.values()];
}
