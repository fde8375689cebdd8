// deploy/helm/recourse/files/cluster.json: topics and who may use them, which the chart makes Strimzi's resources of.
import { clusterAccess, familyOf } from '../lib/cluster-access.mjs';

/** @returns {readonly {path: string, text: string}[]} */
export function clusterFiles({ topics }) {
  const cluster = {
    comment: 'Generated from schemas/topics.json by scripts/generate.mjs; do not edit.',
    topics: topics.map(({ name, kind, partitioned, config }) => ({
      name,
      kind,
      partitioned,
      family: familyOf(name),
      config,
    })),
    ...clusterAccess(topics),
  };
  return [{ path: 'deploy/helm/recourse/files/cluster.json', text: `${JSON.stringify(cluster, null, 2)}\n` }];
}
