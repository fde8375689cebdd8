// docs/reference/cli.md: every command with its options and the exit codes, from the program itself.

/** The page. `built` imports a compiled module by its path from the root. */
export async function cliPage(built) {
  const { referencePage } = await built('apps/cli/dist/reference.main.js');
  return referencePage();
}
