// What a connection lacks, and what to do about it.

/** Codes of a connection, each with its remedy. */
export const CONNECT_REMEDIES = {
  NODE_TOO_OLD: 'Run it on Node 22.22 or newer',
  OPTIONS_INVALID: 'Correct the options that are named',
  STACK_NOT_FOUND:
    'Start a stack with `npm start`, name its data directory (`dataDir`, or RECOURSE_DATA_DIR), or give the addresses themselves',
  STACK_FILE_UNREADABLE: 'Name the data directory of a stack that was started with `npm start`',
  ADDRESS_INVALID: 'Write it as `http://host:port`, and brokers as `host:port` with commas between',
  KAFKA_ACCESS_INVALID:
    'Give both of RECOURSE_KAFKA_USER and RECOURSE_KAFKA_PASSWORD_FILE, and files that can be read, that of the password by nobody else (`chmod o-rwx`); a secure development stack keeps a file for each of its users',
  TOKEN_MISSING: 'Give a `token`, RECOURSE_TOKEN_FILE or RECOURSE_TOKEN; a development stack has an issuer of its own',
  ISSUER_UNREACHABLE:
    'Check that the stack runs (`npm start` starts it) and that its address is right, or give a `token` of your own',
  TOKEN_REFUSED: 'Ask the issuer that the services trust for a new one',
  TENANT_UNKNOWN: 'Name a `tenant`, or set RECOURSE_TENANT',
  CONTRACTS_UNREACHABLE: 'Check that the contract registry runs and that its address is right (`npm start` starts it)',
  CONTRACT_UNKNOWN: 'Register it with `recourse contract register <folder>`, or check its name',
  CONTRACT_RETIRED: 'Register a new version of it with `recourse contract register <folder>`',
  CONTRACT_UNREADABLE: 'Use an SDK of the version of the contract registry',
  ADAPTER_UNKNOWN: 'Start the stack with it (`RECOURSE_ADAPTERS=<adapter> npm start`), or create its request topic',
  KEYS_MISSING:
    'Set RECOURSE_KEYRING_FILE, RECOURSE_SIGNING_KEY_FILE (closed to others) and RECOURSE_SIGNING_KEY_ID, or RECOURSE_WIRES=open where services run so',
  LOG_UNKNOWN:
    'Give `logId` or RECOURSE_LOG_ID, as the services have it; a development stack says it itself (`dataDir`, or RECOURSE_DATA_DIR)',
  NOTICES_MISSING:
    'Check that the brokers are those of the stack, that its topics are made, and that this client may see `recourse.rollback-notifications`',
  CONNECTION_CLOSED: 'Connect anew',
} as const;
/** Why a connection, or something made from it, cannot be had. */
export type ConnectCode = keyof typeof CONNECT_REMEDIES;

/** Something a connection needs is lacking. */
export class ConnectProblem extends Error {
  override readonly name = 'ConnectProblem';
  readonly remedy: string;

  constructor(
    readonly code: ConnectCode,
    /** What is wrong. */
    readonly detail: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`${code}: ${detail}. ${CONNECT_REMEDIES[code]}.`, options);
    this.remedy = CONNECT_REMEDIES[code];
  }
}
