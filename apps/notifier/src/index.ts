export { CONFIG } from './config.js';
export { FOLLOWED_LOGS } from './core.js';
