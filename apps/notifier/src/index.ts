export { CONFIG } from './config.js';
export { HEARD } from './core.js';
