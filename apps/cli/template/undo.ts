// Asks for the undo of a run, waits for its end, and says what is true then.
import { connect, endPlainly } from '@recourse/sdk';

endPlainly(); // what cannot be reached is told in a line, not in a trace
const [, , runId] = process.argv;
if (runId === undefined) {
  console.error('name a run: npm run undo -- <run>');
  process.exit(64);
}
const recourse = await connect({ name: 'room-desk' });
const undos = recourse.undos();
const undoId = await undos.request({ runId, reason: 'the meeting is off', idempotencyKey: `undo-${runId}` });
console.log(JSON.stringify(await undos.wait(undoId), null, 2));
await recourse.close();
