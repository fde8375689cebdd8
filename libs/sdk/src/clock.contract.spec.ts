import { clockContract } from './clock.contract.js';
import { ManualClock } from './clock.memory.js';
import { systemClock } from './clock.system.js';

clockContract('system', () => ({ clock: systemClock, pass: () => Promise.resolve() }));
clockContract('manual', () => {
  const clock = new ManualClock(1_000);
  return { clock, pass: (ms) => clock.advance(ms) };
});
