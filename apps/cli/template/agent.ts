// Your agent: books a room, under the contract that says how the booking is undone.
import { randomUUID } from 'node:crypto';
import { connect, endPlainly } from '@recourse/sdk';
import { book } from './rooms.ts';

endPlainly(); // what cannot be reached is told in a line, not in a trace
const recourse = await connect({ name: 'room-agent' });
const bookRoom = await recourse.guard(book, {
  contract: 'rooms.book_room',
  externalTransactionRef: ({ booking_id }) => booking_id,
});

const runId = `run-${randomUUID()}`;
const answer = await bookRoom(
  { room: 'Ada', day: '2030-05-02' },
  { runId, stepId: 'book', objective: 'find a room for meeting 7', assumptionRefs: ['meeting/7#planned'] },
);
console.log(JSON.stringify({ runId, ...answer }, null, 2));
await recourse.close();
