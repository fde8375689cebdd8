// What every edge of ours asks of a body before it is read, the console's too: an entry of its own (`@recourse/service/body-rules`) that
// loads no web server.

/** Refusals of a body for what its headers say. */
export const BODY_REFUSALS = {
  CODING_UNSUPPORTED: {
    httpStatus: 415,
    summary: 'The body is compressed or encoded otherwise, which no edge decodes; send it plain.',
  },
} as const satisfies Record<string, { readonly httpStatus: number; readonly summary: string }>;

/** Longest name of a coding that is told back. */
const CODING_TOLD_MAX = 40;

/** What is wrong with a Content-Encoding; null where it names no coding. Pure. */
export function codingProblem(header: string | undefined): string | null {
  const coding = header
    ?.split(',')
    .map((one) => one.trim())
    .find((one) => one !== '' && one.toLowerCase() !== 'identity');
  if (coding === undefined) return null;
  return `the body is encoded as ${coding.slice(0, CODING_TOLD_MAX)}; send it plain, without Content-Encoding`;
}
