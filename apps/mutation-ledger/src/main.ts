// Process of the mutation ledger.
import { loadConfig } from '@recourse/config';
import { runService } from '@recourse/service';
import { logUnknown } from '@recourse/telemetry';
import { serviceSpec } from './app.module.js';
import { CONFIG, CONFIG_RULES } from './config.js';

await runService(() => loadConfig(CONFIG, process.env, CONFIG_RULES, logUnknown('mutation-ledger')), serviceSpec);
