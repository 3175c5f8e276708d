import type { ResultOf } from 'gql.tada';
import { useEffect, useState } from 'preact/hooks';
import { kindOfId } from '../../domain/invoice/kinds.ts';
import { eventName } from '../endpoints/event-names.ts';
import type { SubscriptionContext } from '../graphql/client.ts';
import { graphql } from '../graphql/graphql.ts';
import { CopyButton } from '../interface/copy-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { useTitle } from '../interface/use-title.ts';
import { whileSeen } from '../interface/while-seen.ts';
import { DOCUMENT_TEXTS } from '../text/credit-notes.ts';
import { formatMoment } from '../text/dates.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';

const RECEIVED = graphql(`
  subscription Received($after: String) {
    invoiceEvents(after: $after) { cursor manual event { id type createdAt invoiceId body } }
  }
`);

type Received = ResultOf<typeof RECEIVED>['invoiceEvents'];

/** Maximum number of events that the page keeps. */
const MOST_SHOWN = 100;

/** `…/console`: shows events as a receiver gets them, while the page is open. The command `listen` does the same. */
export function ConsolePage() {
  const { texts, language } = useLanguage();
  const { client, address } = useWorkspace();
  const [events, setEvents] = useState<readonly Received[]>([]);
  const [stream, setStream] = useState<'connecting' | 'open' | 'lost'>('connecting');
  const { title, lead, waiting, clear, byHand } = texts.console;
  useTitle(title);
  useEffect(() => {
    // After a lost connection, and when the page becomes visible again, the stream resumes after the last event, or at
    // its start.
    const variables: { after: string | null } = { after: null };
    // Events before the stream opens are not sent, so only then does the page say that it waits for events.
    const context: SubscriptionContext = {
      connected(at) {
        variables.after ??= at.toISOString();
        setStream('open');
      },
      lost: () => setStream('lost'),
    };
    return whileSeen(() => {
      const received = client.subscription(RECEIVED, variables, { ...context }).subscribe(({ data, error }) => {
        if (error) setStream('lost');
        if (!data) return;
        variables.after = data.invoiceEvents.cursor;
        setEvents((before) => [data.invoiceEvents, ...before].slice(0, MOST_SHOWN));
      });
      return () => received.unsubscribe();
    });
  }, [client]);
  return (
    <section class="console">
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
      <pre class="code" dir="ltr" lang="en" tabIndex={0}>
        npm run -s cli -- listen --forward-to http://localhost:4000/webhooks
      </pre>
      <p class="filters">
        <span role="status">
          {stream === 'lost' ? texts.lost : stream === 'open' && events.length === 0 && waiting}
        </span>
        {events.length > 0 && (
          <button type="button" class="secondary" onClick={() => setEvents([])}>
            {clear}
          </button>
        )}
      </p>
      {events.map(({ cursor, manual, event: { id, type, createdAt, invoiceId, body } }) => (
        <details class="delivery" key={cursor}>
          <summary>
            <code dir="ltr">{eventName(type)}</code>
            <time dateTime={createdAt}>{formatMoment(createdAt, language)}</time>
            {manual && <span class="badge">{byHand}</span>}
          </summary>
          <p class="row-actions">
            <a href={`${address}/invoices/${invoiceId}`}>
              {DOCUMENT_TEXTS[kindOfId(invoiceId) ?? 'invoice'][language].invoice}
            </a>
            <code dir="ltr">{id}</code> <CopyButton text={body} />
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
          <pre dir="ltr" lang="en" tabIndex={0}>
            {readable(body)}
          </pre>
        </details>
      ))}
    </section>
  );
}

/** Formats a JSON text with a line for each member. */
function readable(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}
