// Process of the notifier.
import { loadConfig } from '@recourse/config';
import { runProcess } from '@recourse/service';
import { logUnknown } from '@recourse/telemetry';
import { CONFIG } from './config.js';
import { startNotifier } from './run-notifier.js';

await runProcess(() => startNotifier(loadConfig(CONFIG, process.env, [], logUnknown('notifier'))));
