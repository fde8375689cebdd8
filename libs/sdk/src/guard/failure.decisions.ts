// What a tool said of a call that certainly had no effect: the reason an agent, and whoever reads its log, is given.
//
// Boundary: pure. Asked only where nothing happened: there is no handle then that the words could give away (A37).
import { isRejected, memberOf, wordsOf } from '../tool/thrown.js';
import type { ToolError } from './verdict.decisions.js';

/** What failed, in the tool's own words. */
export interface ToolFailure {
  /** The tool's own code, such as ROOM_TAKEN; the name of the error where it has none. */
  readonly code: string;
  readonly message: string;
}

type Members = Readonly<Record<string, unknown>>;

/** Longest message that is passed on, in characters. */
const MESSAGE_MAX = 500;
const UNNAMED = 'FAILED';

/** The tool's own code and words. */
export function failureOf(error: ToolError): ToolFailure {
  const said = error.on === 'result' ? ofResult(membersOf(error.result)) : ofException(error.error);
  const message = said.message.length > MESSAGE_MAX ? `${said.message.slice(0, MESSAGE_MAX)}…` : said.message;
  return { code: said.code, message };
}

function ofException(error: unknown): ToolFailure {
  if (isRejected(error)) return { code: firstText(memberOf(error, 'kind')) ?? UNNAMED, message: wordsOf(error) };
  const [code, name, message] = ['code', 'name', 'message'].map((member) => memberOf(error, member));
  return { code: firstText(code, name) ?? UNNAMED, message: firstText(message) ?? wordsOf(error) };
}

function ofResult(result: Members): ToolFailure {
  const { error, error_code, code, message } = result;
  const inner = membersOf(error);
  const text = firstText(inner['message'], message, error);
  return {
    code: firstText(inner['code'], inner['type'], inner['kind'], error_code, code) ?? UNNAMED,
    message: text ?? 'the tool answered with an error and no words',
  };
}

function firstText(...found: readonly unknown[]): string | null {
  return found.find((one): one is string => typeof one === 'string' && one !== '') ?? null;
}

/** Of an error or an object, as records; errors come from other realms and libraries, and any object may be read by name. */
function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}
