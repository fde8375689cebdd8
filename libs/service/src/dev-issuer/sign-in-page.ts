// The page of the development issuer on which somebody says who they are. Plain HTML: no script runs on it.

export interface Suggestion {
  readonly subject: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly says: string;
}

/** People of the development stack: those of its stories, and one for each other thing there is to do. */
export const PEOPLE: readonly Suggestion[] = [
  { subject: 'mira', tenant: 'demo', roles: ['approver', 'operator'], says: 'decides about what waits; start here' },
  { subject: 'omar', tenant: 'demo', roles: ['approver', 'operator'], says: 'the second person, where two must agree' },
  {
    subject: 'asha',
    tenant: 'demo',
    roles: ['approver'],
    says: 'the agent acts on her behalf, so she may not approve it',
  },
  { subject: 'ravi', tenant: 'demo', roles: ['contract_editor'], says: 'registers contracts and sources' },
  { subject: 'leela', tenant: 'demo', roles: ['budget_owner', 'requester'], says: 'sets ceilings, asks for undos' },
  { subject: 'victor', tenant: 'demo', roles: ['viewer', 'auditor'], says: 'reads, and changes nothing' },
  { subject: 'ada', tenant: '*', roles: ['administrator', 'auditor'], says: 'looks after all tenants' },
];

/** The page; `fields` are carried through the form as they came. */
export function signInPage(fields: Readonly<Record<string, string>>, people: readonly Suggestion[]): string {
  const hidden = Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Who are you? - Recourse development issuer</title><link rel="stylesheet" href="/sign-in.css"></head>
<body><main>
<h1>Who are you today?</h1>
<p class="warning"><strong>Development only.</strong> This issuer believes everybody. A real one asks for more than a name.</p>
<ul>${people.map((one) => card(one, hidden)).join('')}</ul>
<details><summary>Somebody else</summary>
<form method="post" action="/authorize">${hidden}
<label>Subject <input name="subject" required maxlength="256" autocomplete="off" value="user:"></label>
<label>Tenant <input name="tenant" required maxlength="128" autocomplete="off" value="demo"></label>
<label>Roles, by blanks <input name="roles" maxlength="512" autocomplete="off" value="viewer"></label>
<button>Sign in</button></form></details>
</main></body></html>`;
}

function card({ subject, tenant, roles, says }: Suggestion, hidden: string): string {
  const about = `${roles.join(', ')} of ${tenant === '*' ? 'all tenants' : tenant}`;
  return `<li><form method="post" action="/authorize">${hidden}
<input type="hidden" name="subject" value="${escaped(subject)}"><input type="hidden" name="tenant" value="${escaped(tenant)}">
<input type="hidden" name="roles" value="${escaped(roles.join(' '))}">
<button><b>${escaped(subject)}</b><span>${escaped(about)}</span><small>${escaped(says)}</small></button></form></li>`;
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replaceAll(/[&<>"']/g, (letter) => entities[letter] ?? letter);
}

export const SHEET = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; background: light-dark(#f6f7f9, #14171c); color: light-dark(#1b1f24, #e8ebef); }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1rem; }
.warning { padding: .6rem .9rem; border-left: 4px solid #c77700; background: light-dark(#fff3dc, #33270f); }
ul { list-style: none; padding: 0; display: grid; gap: .6rem; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); }
li button { width: 100%; text-align: left; display: grid; gap: .1rem; padding: .8rem 1rem; }
button { font: inherit; color: inherit; background: light-dark(#fff, #1e232b); border: 1px solid light-dark(#c3cad3, #3c4552); border-radius: .5rem; cursor: pointer; padding: .4rem .9rem; }
button:hover, button:focus-visible { border-color: #2f6fdb; outline: 2px solid #2f6fdb; }
label { display: grid; margin: .6rem 0; }
input { font: inherit; padding: .35rem .5rem; }
`;
