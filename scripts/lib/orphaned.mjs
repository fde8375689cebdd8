// npm ends itself and its shell at a signal, and not what runs in the shell: that notices by its parent, which is another then.

const LOOK_EVERY_MS = 500;

/**
 * Acts once when the process that started this one is gone; only below `npm start`, since others may leave it running on purpose.
 *
 * @param {() => void} act
 * @param {{event?: string, parent?: () => number, every?: (look: () => void) => () => void}} [from]
 */
export function whenOrphaned(act, from = {}) {
  const { event = process.env.npm_lifecycle_event, parent = () => process.ppid, every = repeatedly } = from;
  if (event !== 'start') return;
  const first = parent();
  const stop = every(() => {
    if (parent() === first) return;
    stop();
    act();
  });
}

function repeatedly(look) {
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
