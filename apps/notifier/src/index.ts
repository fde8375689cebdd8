export { CONFIG } from './config.js';
export { FOLLOWED_LOGS, HEARD } from './core.js';
