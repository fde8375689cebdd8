import { presenceContract } from './presence.contract.js';
import { MemoryPlace } from './presence.memory.js';

presenceContract('memory', () => {
  const place = new MemoryPlace();
  const other = place.presence();
  const done = (): Promise<void> => Promise.resolve();
  return Promise.resolve({
    one: place.presence(),
    other,
    die: () => {
      other.die();
      return done();
    },
    cutOff: () => {
      place.isBroken = true;
      return done();
    },
    reconnect: () => {
      place.isBroken = false;
      return done();
    },
  });
});
