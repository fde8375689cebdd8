// Reserve, charge, book, notify.
export { playCheckout } from './story.js';
export type { CheckoutResult } from './story.js';
