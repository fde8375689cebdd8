// Process of the notifier.
import { ConfigInvalid, loadConfig } from '@recourse/config';
import { CONFIG } from './config.js';
import { startNotifier } from './run-notifier.js';

try {
  await startNotifier(loadConfig(CONFIG, process.env));
} catch (error) {
  process.stderr.write(
    `${error instanceof ConfigInvalid || error instanceof TypeError ? error.message : describe(error)}\n`,
  );
  process.exit(1);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
