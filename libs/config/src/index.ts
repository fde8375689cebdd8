export { ConfigInvalid, describeConfig, loadConfig, readConfig } from './config.js';
export type { ConfigOf, ConfigRule, ConfigSpec, Environment } from './config.js';
export {
  databaseUrl,
  file,
  hostPort,
  hostPorts,
  integer,
  names,
  networks,
  oneOf,
  optional,
  passwordFile,
  port,
  secretFile,
  secretPath,
  secretText,
  secretTextFile,
  text,
  url,
  withPassword,
} from './variable.js';
export type { Variable } from './variable.js';
