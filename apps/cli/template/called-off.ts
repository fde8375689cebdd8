// Says that the meeting is called off: whatever was done because it was planned should not stand, and is undone.
import { connect, endPlainly } from '@recourse/sdk';

endPlainly(); // what cannot be reached is told in a line, not in a trace
const recourse = await connect({ name: 'room-desk' });
const producer = await recourse.producer();
await producer.assumptionInvalidated({
  tenant: recourse.tenant,
  ref: 'meeting/7#planned',
  statement: { meeting: 7, planned: false },
  statedAt: Date.now(),
  sourceKind: 'observation',
});
console.log('Meeting 7 is called off: what relied on it is undone.');
await recourse.close();
