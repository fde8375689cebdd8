// node examples/resumable-agent/dist/story.main.js [pens left in the east]
import { play } from './story.js';

const left = Number(process.argv[2] ?? '0');
if (!Number.isInteger(left)) throw new Error('name how many pens are left');
const { before, trigger, fallen, after } = await play(left);
process.stdout.write(
  `${JSON.stringify({ planned: before.plan, contradicted: trigger?.on === 'assumption' ? trigger.statement.ref : null, fell: fallen.length, resumed_with: after.resumedWith, refused: after.refused, planned_anew: after.plan }, null, 2)}\n`,
);
