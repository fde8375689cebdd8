// node action.main.mjs <root>: runs one recovery of the simulation and prints, as JSON, the files whose functions ran between
// the agent's ToolExecuted and the end of its compensation. The tree has to be built.
//
// The simulation's clock tells the moment: V8 starts to count calls when the effect is told, and whatever ran while the
// services started and contracts were registered is left out.
import { Session } from 'node:inspector';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = process.argv[2];
/** Virtual milliseconds after which the simulation tells its one effect (test/simulation/src/one-recovery.ts). */
const TOLD_AT_MS = 4_000;

const session = new Session();
session.connect();
/** The inspector of this process answers before `post` returns. */
function ask(method, parameters) {
  let answer;
  session.post(method, parameters, (error, result) => {
    if (error !== null) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer;
}

const built = (name) => import(pathToFileURL(join(root, 'test', 'simulation', 'dist', `${name}.js`)).href);
const [{ recoverOnce }, { Scheduler, EPOCH }] = await Promise.all([built('one-recovery'), built('scheduler')]);

let isCounting = false;
const at = Scheduler.prototype.at;
Scheduler.prototype.at = function (moment, work) {
  if (moment !== EPOCH + TOLD_AT_MS) return at.call(this, moment, work);
  return at.call(this, moment, () => {
    ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    isCounting = true;
    work();
  });
};

ask('Profiler.enable');
const { effects } = await recoverOnce(null);
if (!isCounting) throw new Error(`the simulation tells no effect at ${TOLD_AT_MS} ms any more: update TOLD_AT_MS`);
if (effects !== 1) throw new Error(`the recovery took back ${effects} effects where it should take back one`);

const files = ask('Profiler.takePreciseCoverage')
  .result.filter(({ url }) => url.startsWith('file:'))
  .map(({ url, functions }) => ({ path: relative(root, fileURLToPath(url)).split(sep).join('/'), functions }))
  // The first function of a module is the module itself.
  .filter(({ functions }) => functions.slice(1).some(({ ranges }) => ranges[0].count > 0))
  .map(({ path }) => path.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))
  .filter((path) => /^(apps|libs)\//.test(path) && !path.includes('node_modules'))
  .filter((path) => !/\/generated\/|\/testing\/|^libs\/testing\/|\.(memory|testing|contract)\.ts$/.test(path));
console.log(JSON.stringify([...new Set(files)].sort()));
