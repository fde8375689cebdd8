// What every edge of ours asks of a body before it is read, the console's too: an entry of its own (`@recourse/service/body-rules`) that
// loads no web server.

/** Refusals of a body for what its headers say. */
export const BODY_REFUSALS = {
  CODING_UNSUPPORTED: {
    httpStatus: 415,
    summary: 'The body is compressed or encoded otherwise, which no edge decodes; send it plain.',
  },
  MEDIA_TYPE_UNSUPPORTED: {
    httpStatus: 415,
    summary: 'The body is of another media type than application/json, or of none; no edge reads it.',
  },
} as const satisfies Record<string, { readonly httpStatus: number; readonly summary: string }>;

/** The status with which Fastify refuses a body that no parser takes. */
export const NO_PARSER_STATUS = 415;

/** What to do about a media type that is not taken. */
export const MEDIA_TYPE_DETAIL = 'the body is not application/json; send it as JSON, with this Content-Type';

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
