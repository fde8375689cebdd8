// A story as one HTML file that needs nothing else. Pure.
//
// Invariants
//   W1. What agents, tools and people wrote is text: escaped, with what nobody sees spelled out. There is no script, no link, no address
//       and no attribute made of it, and the page's own policy lets nothing be loaded or run.
import { visible } from '../output/visible.js';
import { titleOf } from './story.js';
import type { Story, StoryLine } from './story.js';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const LOOKS = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%}td,th{border-top:1px solid #ccc;padding:.4rem;text-align:left;vertical-align:top}
td.place{font:12px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}tr.decision{background:#fff6d6}p{overflow-wrap:anywhere}
td{overflow-wrap:anywhere}`;

/** The page. */
export function storyHtml({ about, lines }: Story): string {
  const title = titleOf(about);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${inert(title)}</title>
<style>${LOOKS}</style>
</head>
<body>
<h1>${inert(title)}</h1>
<p>Every line is a record of a log that is never changed. Its hash names it: whoever has the logs, or a dump of them, finds it there.
Lines on a coloured ground are what people decided; they name the lines that those people had to go by.</p>
<table>
<thead><tr><th>#</th><th>When, UTC</th><th>Who</th><th>What</th><th>Record</th></tr></thead>
<tbody>
${lines.map(rowOf).join('\n')}
</tbody>
</table>
</body>
</html>
`;
}

function rowOf(line: StoryLine): string {
  const facts = line.on_facts.length === 0 ? '' : `<br>on the facts of ${line.on_facts.map(String).join(', ')}`;
  const place = `${line.log}/${String(line.partition)} seq ${String(line.seq)}${line.index === null ? '' : ` index ${String(line.index)}`}`;
  return `<tr${line.is_decision ? ' class="decision"' : ''}><td>${String(line.number)}</td><td>${inert(line.at)}</td><td>${inert(line.who)}</td><td>${inert(line.what)}${facts}</td><td class="place">${inert(place)}<br>${inert(line.record_hash)}</td></tr>`;
}

/** Text and nothing but text. */
export function inert(text: string): string {
  return visible(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
