// Where the person stands who calls: relative paths are meant from there. Pure.

/**
 * npm changes into its own folder and keeps the caller's in INIT_CWD; who went on from there, and who was started by anything
 * else that left the variable behind, stands where they are.
 */
export function callersFolder(environment: NodeJS.ProcessEnv, current: string): string {
  return environment['npm_config_local_prefix'] === current ? (environment['INIT_CWD'] ?? current) : current;
}
