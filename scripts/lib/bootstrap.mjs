// From a fresh clone to something that can run: prerequisites, npm packages, jars, build.
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { install, needsInstall } from './install.mjs';
import { artifactsPresent } from './artifacts.mjs';
import { fetchArtifacts } from './maven.mjs';
import { pinnedNode, root } from './paths.mjs';
import { checkPrerequisites, describeProblem } from './prerequisites.mjs';
import { step } from './progress.mjs';
import { CommandFailed, runNode, runQuiet } from './run.mjs';

/**
 * Does what is still missing, and nothing when nothing is. A script that needs the stack goes on under the pinned Node: it loads
 * what was built, and a machine's own Node may be too old for that.
 *
 * @param {{dataDir?: string, stack?: boolean, anyNode?: boolean}} [options] `stack: false` leaves Java and the jars out;
 *   `anyNode`: the script loads nothing that was built, and stays where it is
 */
export async function bootstrap(options = {}) {
  if (options.stack !== false) refuseMissing(checkPrerequisites({ dataDir: options.dataDir }));
  if (needsInstall()) await step('installing npm packages', () => install());
  if (options.stack !== false && !artifactsPresent()) await step('fetching Kafka and the registry', fetchArtifacts);
  await step('building', build);
  if (options.stack !== false && options.anyNode !== true) await goOnUnderPinnedNode();
}

async function goOnUnderPinnedNode() {
  if (!existsSync(pinnedNode) || realpathSync(process.execPath) === realpathSync(pinnedNode)) return;
  process.exit(await runNode(process.argv.slice(1)));
}

/** Compiles what changed. Errors: with the compiler's output. */
export async function build(say = () => {}) {
  try {
    say((await runQuiet(pinnedNode, [join(root, 'scripts', 'build.mjs')])).trim());
  } catch (cause) {
    throw cause instanceof CommandFailed ? new Error(`the build failed\n${cause.output.trim()}`) : cause;
  }
}

/** Runs a script's main function; whatever it throws becomes one message and exit code 1. */
export async function main(work) {
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (cause) {
    console.error(`\n${cause instanceof Error ? cause.message : String(cause)}`);
    process.exitCode = 1;
  }
}

function refuseMissing(problems) {
  if (problems.length === 0) return;
  throw new Error(`Cannot start yet:\n${problems.map((problem) => `  - ${describeProblem(problem)}`).join('\n')}`);
}
