// From a fresh clone to something that can run: prerequisites, npm packages, jars, build.
import { join } from 'node:path';
import { install, needsInstall } from './install.mjs';
import { artifactsPresent } from './artifacts.mjs';
import { fetchArtifacts } from './maven.mjs';
import { pinnedNode, root } from './paths.mjs';
import { checkPrerequisites, describeProblem } from './prerequisites.mjs';
import { step } from './progress.mjs';
import { CommandFailed, runQuiet } from './run.mjs';

/**
 * Does what is still missing, and nothing when nothing is.
 *
 * @param {{dataDir?: string, stack?: boolean}} [options] `stack: false` leaves Java and the jars out
 */
export async function bootstrap(options = {}) {
  if (options.stack !== false) refuseMissing(checkPrerequisites({ dataDir: options.dataDir }));
  if (needsInstall()) await step('installing npm packages', () => install());
  if (options.stack !== false && !artifactsPresent()) await step('fetching Kafka and the registry', fetchArtifacts);
  await step('building', build);
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
