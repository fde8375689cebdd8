// Process of the console.
import { ConfigInvalid, loadConfig } from '@recourse/config';
import { stopOnSignal } from '@recourse/kernel';
import { createLogger, logUnknown } from '@recourse/telemetry';
import { CONFIG } from './config.js';
import { createConsole } from './console.js';

const stopsBy = stopOnSignal();
try {
  const config = loadConfig(CONFIG, process.env, [], logUnknown('console'));
  const logger = createLogger({ service: 'console', instance: '1', level: config.logLevel });
  const app = await createConsole(config, {
    onError: (error) => {
      logger.error({ err: error }, 'a request failed');
    },
  });
  const url = await app.listen({ port: config.httpPort, host: config.httpHost });
  logger.info({ url, public_url: config.publicUrl }, 'listening');
  stopsBy(async () => {
    await app.close();
  });
} catch (error) {
  process.stderr.write(`${error instanceof ConfigInvalid ? error.message : String(error)}\n`);
  process.exit(1);
}
