// What a person needs of a long output when something failed: the failures, not the last lines.

/** Longest excerpt, in characters: those who keep only the end of a log keep it whole. */
const LONGEST = 7_000;
const LONGEST_LINE = 600;
const LINES_PER_BLOCK = 14;
const LINES_AT_LEAST = 30;
/** A heading after which a program tells everything that failed: of several suites, or of one. */
const TOLD_BY_ALL = /^##### what failed/;
const TOLD_BY_ONE = /^What did not hold:/;
/** Lines that open the story of one failure: Jest's, the simulation's, those of the crash runs, the red patches' and pytest's. */
const OPENS = /^\s*(?:● |FAILED |BROKEN |E {3}|.*(?:STAYED GREEN|RED BEFORE|DOES NOT APPLY|SURVIVED|NO SUCH SPEC))/;
/** Jest repeats a block at the end; console output opens with the same mark. */
const NOISE = /^\s*● Console/;

/**
 * The failures in what a suite printed; its last lines when none is recognised. Pure.
 *
 * @param {string} output
 * @param {number} longest characters
 * @returns {string}
 */
export function failuresIn(output, longest = LONGEST) {
  const lines = output.trimEnd().split('\n');
  const byAll = lines.findIndex((line) => TOLD_BY_ALL.test(line));
  const told = byAll >= 0 ? byAll : lines.findLastIndex((line) => TOLD_BY_ONE.test(line));
  return shortened(
    (told >= 0 ? lines.slice(told) : (blocksIn(lines) ?? lines.slice(-LINES_AT_LEAST))).join('\n'),
    longest,
  );
}

/** Longest line of the short list, in characters, and most lines of one lane. */
const TITLE_LENGTH = 240;
const TITLES_MAX = 12;

/**
 * What failed, a line each, for whoever sees the end of a log alone; empty when no failure is recognised. Pure.
 *
 * @param {string} output
 * @returns {readonly string[]}
 */
export function titlesIn(output) {
  const lines = output.trimEnd().split('\n');
  const told = lines.findLastIndex((line) => TOLD_BY_ONE.test(line));
  const found =
    told >= 0
      ? lines.slice(told + 1).filter((line) => /^ {2}- /.test(line))
      : lines.filter((line) => OPENS.test(line) && !NOISE.test(line));
  const titles = [...new Set(found.map((line) => line.trim().slice(0, TITLE_LENGTH)))];
  const more = titles.length - TITLES_MAX;
  return more > 0 ? [...titles.slice(0, TITLES_MAX), `and ${more} more`] : titles;
}

/** The first lines of every failure, each failure once. */
function blocksIn(lines) {
  const blocks = new Map();
  lines.forEach((line, at) => {
    if (!OPENS.test(line) || NOISE.test(line) || blocks.has(line)) return;
    const next = lines.slice(at + 1, at + LINES_PER_BLOCK);
    const end = next.findIndex((following) => OPENS.test(following));
    blocks.set(
      line,
      [line, ...(end < 0 ? next : next.slice(0, end))].filter((one) => one.trim() !== ''),
    );
  });
  return blocks.size === 0 ? null : [...blocks.values()].flat();
}

function shortened(whole, longest) {
  const text = whole
    .split('\n')
    .map((line) => (line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}...`))
    .join('\n');
  return text.length <= longest ? text : `${text.slice(0, longest)}\n(and ${text.length - longest} characters more)`;
}
