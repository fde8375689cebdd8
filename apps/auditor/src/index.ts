export { CONFIG, WITNESS_CONFIG } from './config.js';
