import { run } from './run.js';
const seed = Number(process.argv[2] ?? 1);
const n = Number(process.argv[3] ?? 1);
const t0 = performance.now();
for (let s = seed; s < seed + n; s += 1) {
  const r = await run({ seed: s, events: Number(process.env.EVENTS ?? 300), ...(process.env.TRACE ? { trace: (at: number, line: string) => { console.log(String(at).padStart(7), line); } } : {}) });
  const { troubles, fired, ...rest } = r;
  if (n === 1) console.log(JSON.stringify({ troubles, fired }, null, 1));
  console.log(JSON.stringify(rest));
}
console.log('ms per seed', (performance.now() - t0) / n);
