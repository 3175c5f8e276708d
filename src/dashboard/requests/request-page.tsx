import { useRoute } from 'preact-iso';
import { CopyButton } from '../interface/copy-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Unreachable } from '../interface/unreachable.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatMoment } from '../text/dates.ts';
import { formatNumber } from '../text/money.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { REQUEST } from './documents.ts';
import { DocumentLink, StatusBadge } from './request-rows.tsx';

/** `…/requests/:id`: one request with an API key. Reports can link to it. */
export function RequestPage() {
  const { id = '' } = useRoute().params;
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { data, problem, reload } = useRead(REQUEST, { id });
  const { title, requestId, error, likeIt } = texts.requests;
  const own = TABLE_TEXTS[language];
  const found = data?.apiRequest;
  useTitle(own.request);
  const facts = found && [
    [requestId, <code dir="ltr">{found.id}</code>, <CopyButton text={found.id} />],
    ...(found.documentId === null ? [] : [[own.invoice, <DocumentLink request={found} />]]),
    [own.at, <time dateTime={found.at}>{formatMoment(found.at, language)}</time>],
    [own.duration, <bdi dir="ltr">{formatNumber(found.milliseconds, language)} ms</bdi>],
    [
      texts.requests.key,
      <a href={`${address}/requests?apiKeyId=${encodeURIComponent(found.apiKeyId)}`}>
        <code dir="ltr">{found.apiKeyId}</code>
      </a>,
    ],
    ...(found.code === null
      ? []
      : [
          [
            error,
            <code dir="ltr">
              {found.code} {found.param}
            </code>,
          ],
        ]),
  ];
  return (
    <section aria-busy={!found && !problem}>
      <p>
        <a href={`${address}/requests`}>{title}</a>
      </p>
      <h1 class="title">{own.request}</h1>
      {problem === 'failed' && <Unreachable onRetry={reload} />}
      {problem === 'refused' && <p class="empty">{texts.notFoundUnder}</p>}
      {found && facts && (
        <article class="delivery">
          <p class="row-actions">
            <code dir="ltr">
              {found.method} {found.route} {found.operation}
            </code>
            <StatusBadge request={found} />
          </p>
          <dl class="facts">
            {facts.map(([name, value, action]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  {value} {action}
                </dd>
              </div>
            ))}
          </dl>
          {found.standsFor > 1 && <p class="under">{likeIt(found.standsFor)}</p>}
        </article>
      )}
    </section>
  );
}
