// Progress of long steps: one live line on a terminal, plain lines elsewhere.

const STILL_RUNNING_EVERY_MS = 10_000;
const SPIN_EVERY_MS = 120;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/**
 * Runs one long step and says how it goes.
 *
 * @template T
 * @param {string} title what is being done, in the progressive form
 * @param {(say: (line: string) => void) => Promise<T>} work gets a function that reports a detail
 * @returns {Promise<T>}
 */
export async function step(title, work, out = process.stdout) {
  return out.isTTY ? liveStep(title, work, out) : plainStep(title, work, out);
}

async function plainStep(title, work, out) {
  const startedAt = performance.now();
  const elapsed = () => seconds(performance.now() - startedAt);
  out.write(`- ${title}\n`);
  const timer = setInterval(() => out.write(`  still ${title} (${elapsed()})\n`), STILL_RUNNING_EVERY_MS);
  try {
    const result = await work((line) => out.write(`  ${line}\n`));
    out.write(`  done: ${title} (${elapsed()})\n`);
    return result;
  } finally {
    clearInterval(timer);
  }
}

async function liveStep(title, work, out) {
  const startedAt = performance.now();
  let detail = '';
  let frame = 0;
  const clear = () => out.write('\r\u001b[2K');
  const draw = () => {
    frame = (frame + 1) % FRAMES.length;
    const line = `${FRAMES[frame]} ${title} (${seconds(performance.now() - startedAt)})${detail ? ` · ${detail}` : ''}`;
    clear();
    out.write(line.slice(0, Math.max(20, (out.columns || 80) - 1)));
  };
  const timer = setInterval(draw, SPIN_EVERY_MS);
  try {
    const result = await work((line) => {
      detail = line;
    });
    clear();
    out.write(`✓ ${title} (${seconds(performance.now() - startedAt)})\n`);
    return result;
  } catch (cause) {
    clear();
    out.write(`✗ ${title} (${seconds(performance.now() - startedAt)})\n`);
    throw cause;
  } finally {
    clearInterval(timer);
  }
}
