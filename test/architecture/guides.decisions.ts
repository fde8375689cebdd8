// What a page names and the product has, as pure functions over its text: codes, variables, files, scripts.

/** Codes a page names: capital words with an underscore. What a shell block reads or sets, and constants of the code, are none. */
export function codesIn(markdown: string): readonly string[] {
  const shell = new Set(
    [...markdown.matchAll(/\$\{?([A-Z][A-Z0-9_]*)|\b([A-Z][A-Z0-9_]*)=/g)].flatMap(([, a, b]) => [a, b]),
  );
  return distinct(markdown.matchAll(/(?<![\w$/])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w.])/g)).filter(
    (name) => !name.startsWith('RECOURSE_') && !shell.has(name),
  );
}

/** Variables of ours that a page names; `…` stands for the rest of several names. */
export function variablesIn(markdown: string): readonly string[] {
  return distinct(markdown.matchAll(/RECOURSE_[A-Z0-9_]*[A-Z0-9]…?/g));
}

/** Is it known, or, where it ends with `…`, the beginning of one that is? */
export function isKnownVariable(name: string, known: ReadonlySet<string>): boolean {
  return name.endsWith('…') ? [...known].some((one) => one.startsWith(name.slice(0, -1))) : known.has(name);
}

/** Paths of the tree that a page names outside links: a folder of ours and what is below it. */
export function pathsIn(markdown: string): readonly string[] {
  return distinct(
    markdown.matchAll(/(?<![\w./-])(?:apps|libs|schemas|deploy|examples|test|docs|scripts)\/[\w./*<>-]*[\w/>*]/g),
  );
}

/** What has to be there for a path to lead somewhere: its source where it is built, or the folder before its first placeholder. */
export function anchorOf(path: string): string {
  const [fixed = ''] = path.split(/[*<]/, 1);
  return fixed === path ? path.replace(/\/dist\/(.*)\.js$/, '/src/$1.ts') : fixed.slice(0, fixed.lastIndexOf('/'));
}

/** Scripts that a page has somebody run. */
export function scriptsIn(markdown: string): readonly string[] {
  return distinct(markdown.matchAll(/(?<=npm run )[\w:-]*\w/g));
}

/** Sentences that have somebody roll a release back with a value: Helm takes those of then, and no others. */
export function rollbacksWithValues(markdown: string): readonly string[] {
  return markdown
    .split(/(?<=[.:;])\s/)
    .filter((text) => /helm rollback/.test(text) && /--set|--values|\w=\w/.test(text));
}

function distinct(found: Iterable<RegExpMatchArray>): readonly string[] {
  return [...new Set([...found].map(([text]) => text))];
}
