// What is warned of in the environment of a program goes where its other logs go, as data: stderr is no place where alerts look.
import { createLogger } from './logger.js';
import type { Logger, LoggerOptions } from './logger.js';

/** A variable under our prefix that a program does not read, as `loadConfig` tells it. */
interface UnknownVariable {
  readonly variable: string;
  readonly message: string;
}

/** What a program's configuration may say of its logs. */
interface LogConfig {
  readonly instance?: string;
  readonly logLevel: NonNullable<LoggerOptions['level']>;
}

/** For `loadConfig` of a program that logs: one line with `CONFIG_UNKNOWN` and the variable for each that it does not read. */
export function logUnknown(
  service: string,
  loggerOf: (options: LoggerOptions) => Pick<Logger, 'warn'> = createLogger,
): (problem: UnknownVariable, config: LogConfig) => void {
  return ({ variable, message }, { instance = '1', logLevel }) => {
    loggerOf({ service, instance, level: logLevel }).warn({ code: 'CONFIG_UNKNOWN', variable }, message);
  };
}
