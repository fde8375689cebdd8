// A receiver of webhooks, as an approver's team would run one: refuses what is not signed, takes each id once, prints what waits.
import { z } from 'zod';
import { readEnvironment } from './common/environment.js';
import { answering, HttpAnswer, serve } from './common/serve.js';
import { verifyWebhook } from './webhook-receiver/verify-webhook.js';

const notice = z.looseObject({
  type: z.string(),
  item_kind: z.string().optional(),
  reason: z.string().optional(),
  deadline_at: z.string().optional(),
});

const env = readEnvironment('PORT', 'WEBHOOK_SECRET');
const received = new Map<string, z.infer<typeof notice>>();

await serve({
  port: env.PORT,
  routes: (app) => {
    // The signature covers the bytes: they are kept as they came.
    app.removeContentTypeParser('application/json');
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => {
      done(null, body);
    });
    app.post(
      '/hook',
      answering((request) => {
        const body = String(request.body);
        if (!verifyWebhook([env.WEBHOOK_SECRET], request.headers, body, Date.now()))
          return Promise.resolve(new HttpAnswer(401, { code: 'SIGNATURE_REFUSED' }));
        take(String(request.headers['webhook-id']), notice.parse(JSON.parse(body)));
        return Promise.resolve({ ok: true });
      }),
    );
    app.get(
      '/received',
      answering(() => Promise.resolve({ received: [...received].map(([id, one]) => ({ id, ...one })) })),
    );
  },
});

/** The sender tries until it is answered: the same id again is the same notice. */
function take(id: string, one: z.infer<typeof notice>): void {
  if (received.has(id)) return;
  received.set(id, one);
  process.stdout.write(
    `${one.type}: ${one.item_kind ?? 'nothing'}${one.reason === undefined ? '' : `, ${one.reason}`}${one.deadline_at === undefined ? '' : `, until ${one.deadline_at}`}\n`,
  );
}
