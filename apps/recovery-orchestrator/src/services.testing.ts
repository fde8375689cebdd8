// Little services behind shipped contracts: labels, contacts, drafts. What they hold can be compared before an effect and after its inverse.
import type { Json } from '@recourse/kernel';

type Args = Readonly<Record<string, Json>>;

/** What the services hold. Versions are apart: they only ever grow, and no inverse takes one back. */
export interface Held {
  readonly labels: Record<string, readonly string[]>;
  readonly contacts: Record<string, string>;
  readonly drafts: Record<string, string>;
}

/** Capability, arguments and the state before, of effects whose inverse leaves nothing behind. */
export const CLEAN: readonly (readonly [what: string, name: string, args: Args, before: Held])[] = [
  [
    'a label that is added',
    'labels.add_label',
    { issue: '7', label: 'bug' },
    { labels: { '7': ['old'] }, contacts: {}, drafts: {} },
  ],
  [
    'a label that is taken off',
    'labels.remove_label',
    { issue: '7', label: 'bug' },
    { labels: { '7': ['bug', 'old'] }, contacts: {}, drafts: {} },
  ],
  [
    'a draft that is created',
    'drafts.create_draft',
    { draft: 'd1', text: 'Dear Ada' },
    { labels: {}, contacts: {}, drafts: {} },
  ],
  [
    'a record that is written',
    'crm.update_contact',
    { contact: 'c1', phone: '2' },
    { labels: {}, contacts: { c1: '1' }, drafts: {} },
  ],
];

export class Services {
  private readonly versions = new Map<string, number>();

  constructor(public state: Held) {}

  /** Performs a capability; what it answers is what is there afterwards. */
  act(capability: string, args: Args): Json {
    const { labels, contacts, drafts } = this.state;
    const [issue, contact, draft] = [text(args['issue']), text(args['contact']), text(args['draft'])];
    switch (capability) {
      case 'labels.add_label':
        labels[issue] = [...(labels[issue] ?? []), text(args['label'])];
        break;
      case 'labels.remove_label':
        labels[issue] = (labels[issue] ?? []).filter((label) => label !== args['label']);
        break;
      case 'labels.set_labels':
        labels[issue] = (args['labels'] as readonly Json[]).map(text);
        break;
      case 'crm.update_contact':
        contacts[contact] = text(args['phone']);
        break;
      case 'drafts.create_draft':
        drafts[draft] = text(args['text']);
        break;
      case 'drafts.delete_draft':
        Reflect.deleteProperty(drafts, draft);
        break;
      default:
        throw new Error(`nobody offers ${capability}`);
    }
    const key = issue + contact + draft;
    this.versions.set(key, (this.versions.get(key) ?? 0) + 1);
    return this.observe(args);
  }

  /** Reads the resource that arguments name. */
  observe(args: Args): Json {
    const { labels, contacts, drafts } = this.state;
    const [issue, contact, draft] = [text(args['issue']), text(args['contact']), text(args['draft'])];
    const version = this.versions.get(issue + contact + draft) ?? 0;
    if (issue !== '') return { issue, labels: labels[issue] ?? [], version };
    if (contact !== '') return { contact, phone: contacts[contact] ?? null, version };
    return { draft, status: draft in drafts ? 'present' : 'gone', version };
  }
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
