// The system your agent acts on: here the bookings of meeting rooms, kept in a file. Put your own in its place.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { ToolRejected } from '@recourse/sdk';

export interface Booking {
  readonly booking_id: string;
  readonly room: string;
  readonly day: string;
  readonly status: 'booked' | 'cancelled';
}

/** Books a room. The same key again is the same booking. */
export function book(
  { room, day }: { room: string; day: string },
  { idempotencyKey }: { idempotencyKey: string },
): Booking {
  const all = bookings();
  const booking_id = `bk-${idempotencyKey}`;
  const made = all.find((each) => each.booking_id === booking_id);
  if (made !== undefined) return made;
  // Only what is known to have had no effect is rejected: see "Read the answers" in the guide.
  if (all.some((each) => each.room === room && each.day === day && each.status === 'booked'))
    throw new ToolRejected('ROOM_TAKEN', `${room} is taken on ${day}`);
  return keep({ booking_id, room, day, status: 'booked' });
}

/** Cancels a booking; cancelling it again changes nothing. */
export function cancel(bookingId: string): Booking {
  return keep({ ...find(bookingId), status: 'cancelled' });
}

export function find(bookingId: string): Booking {
  const found = bookings().find(({ booking_id }) => booking_id === bookingId);
  if (found === undefined) throw new ToolRejected('BOOKING_UNKNOWN', `there is no booking ${bookingId}`);
  return found;
}

/** The booking made under a key, if any was. */
export function madeUnder(idempotencyKey: string): Booking | undefined {
  return bookings().find(({ booking_id }) => booking_id === `bk-${idempotencyKey}`);
}

const FILE = new URL('rooms.json', import.meta.url);

function bookings(): readonly Booking[] {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Booking[]) : [];
}

function keep(booking: Booking): Booking {
  const others = bookings().filter(({ booking_id }) => booking_id !== booking.booking_id);
  const next = new URL('rooms.json.new', import.meta.url);
  writeFileSync(next, JSON.stringify([...others, booking], null, 2));
  renameSync(next, FILE);
  return booking;
}
