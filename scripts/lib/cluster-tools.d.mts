/** Paths of the tools and of the schemas, whether they are there yet or not. */
export interface ClusterTools {
  readonly folder: string;
  readonly helm: string;
  readonly kubeconform: string;
  readonly promtool: string;
  readonly schemas: string;
}
export const KUBERNETES: readonly string[];
export function clusterTools(): ClusterTools;
export function prepareClusterTools(): Promise<void>;
