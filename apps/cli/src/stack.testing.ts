// What a secure development stack leaves in its data directory: system.json, the keyring and keys.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { testKeys } from '@recourse/kafka';

/** Writes it into a folder; keys are kept for these users. Gives the path of the keyring. */
export function writeSecureStack(
  folder: string,
  {
    keys,
    users,
    logId = 'log-1',
  }: { readonly keys: ReturnType<typeof testKeys>; readonly users: readonly string[]; readonly logId?: string },
): string {
  mkdirSync(folder, { recursive: true });
  const keyring = join(folder, 'keyring.json');
  writeFileSync(keyring, keys.text);
  const fileOf = (user: string): string => {
    const file = join(folder, `${user}.pem`);
    writeFileSync(file, keys.pem(user), { mode: 0o600 });
    return file;
  };
  // Nothing listens at these.
  const url = 'http://127.0.0.1:9';
  const system = {
    urls: { issuer: url, registry: url, ledger: url, orchestrator: url, budget: url },
    brokers: ['127.0.0.1:9'],
    registry_url: url,
    log_id: logId,
    databases: { 'budget-accountant': 'postgres://127.0.0.1:9/none', 'mutation-ledger': 'postgres://127.0.0.1:9/none' },
    keyring_file: keyring,
    signing_keys: Object.fromEntries(users.map((user) => [user, fileOf(user)])),
    kafka_users: {},
  };
  writeFileSync(join(folder, 'system.json'), JSON.stringify(system));
  return keyring;
}
