// Your worker: undoes what the agent did and looks whether it worked, when Recourse asks it to.
import { connect, endPlainly, happened, noteLine, notHappened } from '@recourse/sdk';
import type { Json, Tool } from '@recourse/sdk';
import { cancel, find, madeUnder } from './rooms.ts';
import type { Booking } from './rooms.ts';

const cancelBooking: Tool = (args) => Promise.resolve(shown(cancel(idIn(args))));

const getBooking: Tool = (args, { phase, idempotencyKey }) => {
  if (phase !== 'reconcile' || 'booking_id' in Object(args)) return Promise.resolve(shown(find(idIn(args))));
  // Nobody knows how the agent's own call ended: was a booking made under its key?
  const made = madeUnder(idempotencyKey);
  return Promise.resolve(made === undefined ? notHappened() : happened(shown(made), made.booking_id));
};

endPlainly(); // what cannot be reached is told in a line, not in a trace
const recourse = await connect({ name: 'room-worker' });
await recourse.worker({
  adapter: 'rooms',
  capabilities: { 'rooms.cancel_booking': cancelBooking, 'rooms.get_booking': getBooking },
  onNote: (note) => {
    console.log(noteLine(note));
  },
});
console.log('The worker of rooms is ready. Ctrl-C stops it.');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void recourse.close());

function idIn(args: Json): string {
  const { booking_id } = Object(args) as { booking_id: unknown };
  return String(booking_id);
}

function shown(booking: Booking): Json {
  return { ...booking };
}
