// schemas/reports: JSON Schemas of what the command line prints for scripts.

/** The files. `built` imports a compiled module by path from the root. */
export async function reportSchemaFiles(built) {
  const { reportSchemas } = await built('apps/cli/dist/index.js');
  return Object.entries(reportSchemas()).map(([file, schema]) => ({
    path: `schemas/reports/${file}`,
    text: `${JSON.stringify(schema, null, 2)}\n`,
  }));
}
