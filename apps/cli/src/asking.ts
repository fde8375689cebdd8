// In a terminal the command line asks for an option that a command needs and was not given; a script gets commander's refusal.
import { CommanderError } from 'commander';
import type { Command, Option } from 'commander';
import type { Terminal } from './output/terminal.js';

const MISSING = 'commander.missingMandatoryOptionValue';

/** Parses the arguments, and again with what a person answers. Errors: those of commander and of the action. */
export async function parseAsking(
  make: () => Command,
  args: readonly string[],
  terminal: Pick<Terminal, 'isInteractive' | 'ask'>,
): Promise<void> {
  for (let given = [...args]; ;) {
    const program = make();
    try {
      await program.parseAsync(given, { from: 'user' });
      return;
    } catch (thrown) {
      const option = isMissing(thrown) ? missingOption(commandOf(program, given), thrown) : undefined;
      if (option === undefined || !terminal.isInteractive) throw thrown;
      const answer = (await terminal.ask(questionOf(option))).trim();
      if (answer === '') throw thrown;
      given = [...given, `${option.long ?? ''}=${answer}`];
    }
  }
}

function isMissing(thrown: unknown): thrown is CommanderError {
  return thrown instanceof CommanderError && thrown.code === MISSING;
}

/** The command that the arguments name. */
function commandOf(program: Command, args: readonly string[]): Command {
  const isCalled = (one: Command, word: string): boolean => one.name() === word || one.aliases().includes(word);
  return args.reduce((found, word) => found.commands.find((one) => isCalled(one, word)) ?? found, program);
}

function missingOption({ options }: Command, { message }: CommanderError): Option | undefined {
  return options.find(({ mandatory, flags }) => mandatory && message.includes(`'${flags}'`));
}

function questionOf({ description, argChoices }: Option): string {
  return `${description}${argChoices === undefined ? '' : ` (${argChoices.join(', ')})`}: `;
}
