// What makes a tree untidy, as pure functions over texts: the tidy spec reads the files, and these judge them.

export interface SourceText {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** What every ADR says, in this order. */
export const ADR_PARTS = ['Status', 'Context', 'Decision', 'Options that lost', 'Consequences'] as const;

/** Interfaces a port file exports. */
export function interfacesOf({ text }: SourceText): readonly string[] {
  return [...text.matchAll(/^export interface (\w+)/gm)].map((match) => match[1] ?? '');
}

/** Interfaces with a method: those that an adapter implements; the others are its data. */
export function behavioursOf(port: SourceText): readonly string[] {
  return [...port.text.matchAll(/^export interface (\w+)[^{]*\{([\s\S]*?)^\}/gm)]
    .filter((match) => /^ {2}\w+\??(<[^>]*>)?\(/m.test(match[2] ?? ''))
    .map((match) => match[1] ?? '');
}

/** Names a file imports, types included. */
export function importsOf({ text }: SourceText): readonly string[] {
  return [...text.matchAll(/^import (?:type )?\{([^}]*)\}/gm)]
    .flatMap((match) => (match[1] ?? '').split(','))
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*$/, ''),
    )
    .filter((name) => name !== '');
}

/** Paths of files that are memory adapters: `<thing>.memory.ts`, `memory-<thing>.ts`, or anything in a folder `memory/`. */
export function isMemoryAdapter(path: string): boolean {
  return (
    path.endsWith('.ts') && !path.endsWith('.spec.ts') && /(\.memory\.ts$|\/memory-[^/]+\.ts$|\/memory\/)/.test(path)
  );
}

/** Does one of these files import one of these names? */
export function someImports(files: readonly SourceText[], names: readonly string[]): boolean {
  return files.some((file) => importsOf(file).some((name) => names.includes(name)));
}

/** Fields (and records) of an Avro schema that say nothing about themselves, as dotted paths. */
export function undocumented(schema: unknown, path = ''): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap((branch: unknown) => undocumented(branch, path));
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, name, fields, items, values } = schema as Readonly<Record<string, unknown>>;
  const here = typeof name === 'string' && path === '' ? name : path;
  const own = Array.isArray(fields) && !isText((schema as { readonly doc?: unknown }).doc) ? [here] : [];
  const inner = Array.isArray(fields) ? fields.flatMap((field: AvroField) => undocumentedField(field, here)) : [];
  return [...own, ...inner, ...[type, items, values].flatMap((one) => undocumented(one, here))];
}

interface AvroField {
  readonly name: string;
  readonly type: unknown;
  readonly doc?: unknown;
}

function undocumentedField(field: AvroField, path: string): readonly string[] {
  const here = `${path}.${field.name}`;
  return [...(isText(field.doc) ? [] : [here]), ...undocumented(field.type, here)];
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** Parts an ADR lacks, has empty, or has out of order. */
export function adrProblems({ text }: SourceText): readonly string[] {
  const parts = [...text.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)];
  const headings = parts.map((part) => part[1] ?? '');
  const missing = ADR_PARTS.filter((part) => !headings.includes(part)).map((part) => `no "${part}"`);
  const empty = parts.filter((part) => (part[2] ?? '').trim() === '').map((part) => `empty "${part[1] ?? ''}"`);
  const known = headings.filter((heading) => (ADR_PARTS as readonly string[]).includes(heading));
  const ordered = missing.length > 0 || known.join() === ADR_PARTS.join();
  return [...missing, ...empty, ...(ordered ? [] : ['parts out of order'])];
}

/** Words joined from pieces, so that this file does not say what it forbids. */
const words = (...parts: readonly (readonly string[])[]): string => parts.map((part) => part.join('')).join('|');

const UNFINISHED = new RegExp(String.raw`\b(${words(['TO', 'DO'], ['FIX', 'ME'], ['XX', 'X'], ['HA', 'CK'])})\b`);
const UNFINISHED_PHRASE = new RegExp(
  words(['not ', 'implemented'], ['not ', 'yet ', 'implemented'], ['lorem ', 'ipsum']),
  'i',
);
const WORKPLACE = new RegExp(
  String.raw`\b(${words(['cla', 'ude'], ['anth', 'ropic'], ['chat', 'gpt'], ['open', 'ai'], ['co', 'pilot'], ['ai ', 'assistant'], ['coding ', 'assistant'], ['language ', 'model'], ['ai ', 'session'], ['coding ', 'session'], ['sub', 'agent'])})\b`,
  'i',
);
const MACHINE_PATH = new RegExp(String.raw`(^|[\s"'\`(=])/(work|root|home/[a-z]\w*|Users/[A-Za-z]\w*)/\w`);

/** What agents run on has names, and an adapter says which it is for. */
const RUNTIMES = new RegExp(
  String.raw`@${words(['open', 'ai'])}/agents(-core)?|${words(['Open', 'AI'])} Agents SDK`,
  'g',
);

/** Lines that hold what no tracked text may hold: work left open, the tools it was written with, paths of one machine. */
export function forbiddenLines({ path, text }: SourceText): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [UNFINISHED, UNFINISHED_PHRASE, WORKPLACE, MACHINE_PATH].some((pattern) =>
        pattern.test(line.replace(RUNTIMES, '')),
      )
        ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`]
        : [],
    );
}

/** Documents of which nobody who reads this tree has a copy, joined from pieces like the words above. */
const ELSEWHERE = new RegExp(
  String.raw`\b(${words(['DES', 'IGN'], ['STY', 'LE'], ['REQUIRE', 'MENTS'])})(\.md\b|\b(?![_.]))`,
);

/** Lines that cite a document that is not in the tree. */
export function citationsElsewhere({ path, text }: SourceText): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, index) => (ELSEWHERE.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : []));
}

/** Pages of the tree that a text cites by their path, wherever it does: in a comment, a message, a page. */
export function citedPages(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md\b/g)].map(([path]) => path);
}

/** Ids of rules of the loop and of promises that a text cites; larger numbers are percentiles. */
export function citedRules(text: string): readonly string[] {
  return [...text.matchAll(/\b[LP](?:[1-9]|[123]\d)\b/g)].map(([id]) => id);
}

/** Ids of the rules and promises that a page states: bold at the start of a paragraph, or first in a row. */
export function rulesIn(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^(?:\*\*|\| )([LP]\d+)\b/gm)].map((match) => match[1] ?? '');
}

/** Fenced blocks of a language in a Markdown text. */
export function blocksIn(markdown: string, language: string): readonly string[] {
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
    .filter((block) => block[1] === language)
    .map((block) => block[2] ?? '');
}

/** Names of records and types a Markdown text puts between back-ticks: several words, each with a capital. */
export function camelNames(markdown: string): readonly string[] {
  return [...markdown.matchAll(/`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`/g)].map((match) => match[1] ?? '');
}

/** Targets of relative links in a Markdown text, without code. */
export function relativeLinks(markdown: string): readonly string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target));
}

/** Anchors a Markdown text offers: its headings, the way hosts of repositories spell them. */
export function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );
}
