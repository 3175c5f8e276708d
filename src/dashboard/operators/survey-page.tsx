import { CONDITIONS, type ConditionCode } from '../../domain/conditions/condition-table.ts';
import { MOST_WAITING, OPERATOR_TEXTS } from '../../domain/limits.ts';
import { ConditionList } from '../interface/condition-list.tsx';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatDate, formatMoment } from '../text/dates.ts';
import { formatNumber } from '../text/money.ts';
import { type Backlog, type Survey, useOperatorChange, useOperatorRead } from './operator-api.ts';

/** Interval at which the page reads again, milliseconds. */
const EVERY_MS = 10_000;
const GIB = 2 ** 30;

/** `/ops`: shows backlogs, failures, the authority, the certificates and the disk. */
export function SurveyPage() {
  const { texts } = useLanguage();
  const { operators } = texts;
  const { data, refusal, reload } = useOperatorRead<Survey>('survey', EVERY_MS);
  const change = useOperatorChange();
  useTitle(operators.title);

  async function run(path: string, input?: object) {
    await change.run(path, input);
    reload();
  }
  return (
    <section class="survey" aria-busy={!data && !refusal}>
      <h1 class="title">{operators.title}</h1>
      <Refusal why={change.refusal ?? refusal} />
      {data && (
        <>
          <ConditionList
            title={operators.attention}
            nothing={operators.nothing}
            conditions={data.conditions}
            addressOf={(code) => (code in LISTS ? `#${code}` : null)}
          />
          {data.attention.length > 0 && (
            <StuckInvoices
              rows={data.attention}
              onRetry={(invoiceId) => void run(`invoices/${encodeURIComponent(invoiceId)}/retry`)}
            />
          )}
          {data.endpoints.length > 0 && <FailingEndpoints rows={data.endpoints} />}
          <Queues survey={data} />
          <Authority
            survey={data}
            onPause={(reason) => void run('authority/pause', { reason })}
            onResume={() => void run('authority/resume')}
          />
          <Certificates rows={data.certificates} />
          <Disk storage={data.storage} />
        </>
      )}
    </section>
  );
}

/** The conditions whose objects have lists of their own below. */
const LISTS = { invoices_stuck: true, endpoints_failing: true } as const satisfies Partial<Record<ConditionCode, true>>;

function StuckInvoices({ rows, onRetry }: { rows: Survey['attention']; onRetry: (invoiceId: string) => void }) {
  const { texts, language } = useLanguage();
  const { operators } = texts;
  return (
    <section class="part" id="invoices_stuck">
      <h2>{CONDITIONS.invoices_stuck.says[language]}</h2>
      <ul class="log">
        {rows.map(({ invoiceId, tenantId, tenantName, environment, reason, stage, since, nextAttemptAt }) => (
          <li key={invoiceId}>
            <strong>{operators.reasons[reason]}</strong>
            <code dir="ltr">{invoiceId}</code>
            <span class="badge" data-environment={environment}>
              {texts.workspace[environment]}
            </span>
            <span>
              <a href={`/ops/tenants/${tenantId}`}>
                <bdi>{tenantName}</bdi>
              </a>{' '}
              · <code dir="ltr">{stage}</code> · {operators.since}{' '}
              <time dateTime={since}>{formatMoment(since, language)}</time>
              {nextAttemptAt && (
                <>
                  {' '}
                  · {texts.invoices.retryAt}{' '}
                  <time dateTime={nextAttemptAt}>{formatMoment(nextAttemptAt, language)}</time>
                </>
              )}
            </span>
            <span class="row-actions">
              <button type="button" class="quiet" onClick={() => onRetry(invoiceId)}>
                {operators.retry}
              </button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows receivers that fail. Their tenants are notified by mail; operators may know the reason. */
function FailingEndpoints({ rows }: { rows: Survey['endpoints'] }) {
  const { texts, language } = useLanguage();
  const { operators } = texts;
  return (
    <section class="part" id="endpoints_failing">
      <h2>{CONDITIONS.endpoints_failing.says[language]}</h2>
      <ul class="log">
        {rows.map(({ endpointId, tenantId, tenantName, environment, host, since }) => (
          <li key={endpointId}>
            <strong dir="ltr">{host}</strong>
            <code dir="ltr">{endpointId}</code>
            <span class="badge" data-environment={environment}>
              {texts.workspace[environment]}
            </span>
            <span>
              <a href={`/ops/tenants/${tenantId}`}>
                <bdi>{tenantName}</bdi>
              </a>{' '}
              · {operators.since} <time dateTime={since}>{formatMoment(since, language)}</time>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Queues({ survey: { queues, webhooks, transmissions, workers } }: { survey: Survey }) {
  const { texts } = useLanguage();
  const { operators } = texts;
  const rows: readonly (readonly [string, Backlog])[] = [
    ...queues.map((queue) => [operators.lanes[queue.lane], queue] as const),
    [operators.webhooks, webhooks],
  ];
  return (
    <section class="part">
      <h2>{operators.queues}</h2>
      <p class="under">
        {operators.workers} {workers}
      </p>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">{operators.queue}</th>
            <th scope="col">{operators.waiting}</th>
            <th scope="col">{operators.oldest}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, { waiting, oldest }]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{counted(waiting)}</td>
              <td>{oldest === null ? '–' : <Ago at={oldest} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {transmissions.length > 0 && (
        <>
          <h3>{operators.transmissions}</h3>
          <ul class="log">
            {transmissions.map(({ tenantId, name, waiting }) => (
              <li key={tenantId}>
                <a href={`/ops/tenants/${tenantId}`}>
                  <bdi>{name}</bdi>
                </a>
                <strong>{counted(waiting)}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

interface AuthorityProps {
  readonly survey: Survey;
  readonly onPause: (reason: string) => void;
  readonly onResume: () => void;
}

function Authority({ survey: { authority, hasAuthority }, onPause, onResume }: AuthorityProps) {
  const { texts, language } = useLanguage();
  const { operators } = texts;
  const { breaker, since, outages, nextProbe, notBefore, pause, workers, inFlight } = authority;
  const moment = (at: string) => <time dateTime={at}>{formatMoment(at, language)}</time>;
  return (
    <section class="part">
      <h2>{operators.authority}</h2>
      <dl class="facts">
        <div>
          <dt>{operators.state}</dt>
          <dd>
            {pause ? operators.pausedState : hasAuthority ? operators.breakers[breaker] : operators.noAuthority}{' '}
            {since && !pause && <span class="under">({moment(since)})</span>}
          </dd>
        </div>
        <div>
          <dt>{operators.outages}</dt>
          <dd>{outages}</dd>
        </div>
        {nextProbe && (
          <div>
            <dt>{operators.nextProbe}</dt>
            <dd>{moment(nextProbe)}</dd>
          </div>
        )}
        {notBefore && (
          <div>
            <dt>{operators.notBefore}</dt>
            <dd>{moment(notBefore)}</dd>
          </div>
        )}
        {hasAuthority && (
          <div>
            <dt>{operators.transmitting}</dt>
            <dd>
              {workers} · {operators.inFlight} {inFlight}
            </dd>
          </div>
        )}
        {pause && (
          <div>
            <dt>{operators.paused}</dt>
            <dd>
              <bdi>{pause.by}</bdi>, {moment(pause.since)} <bdi>{pause.reason}</bdi>
            </dd>
          </div>
        )}
      </dl>
      <p class="actions">
        {pause ? (
          <ConfirmedButton question={operators.resumeQuestion} onConfirm={onResume}>
            {operators.resume}
          </ConfirmedButton>
        ) : (
          <ConfirmedButton
            question={operators.pauseQuestion}
            reason={{ label: operators.reason, maxLength: OPERATOR_TEXTS.pauseReason }}
            onConfirm={onPause}
          >
            {operators.pause}
          </ConfirmedButton>
        )}
      </p>
    </section>
  );
}

function Certificates({ rows }: { rows: Survey['certificates'] }) {
  const { texts, language } = useLanguage();
  const { operators } = texts;
  return (
    <section class="part">
      <h2>{operators.certificates}</h2>
      {rows.length === 0 && <p class="empty">{operators.noCertificates}</p>}
      <ul class="log">
        {rows.map(({ signer, subject, validTo, testOnly, findings }) => (
          <li key={signer}>
            <strong dir="ltr">{signer}</strong>
            <code dir="ltr">{subject}</code>
            {testOnly && <span class="badge">{operators.testOnly}</span>}
            <span>
              {operators.until} <time dateTime={validTo}>{formatDate(validTo, language)}</time>
            </span>
            {findings.map((finding) => (
              <span class="refusal" lang="en" dir="auto" key={finding}>
                {finding}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Disk({ storage: { dataBytes, freeBytes, diskBytes } }: { storage: Survey['storage'] }) {
  const { texts, language } = useLanguage();
  const { operators } = texts;
  const size = (bytes: number) => operators.gigabytes(formatNumber(Math.round((bytes / GIB) * 10) / 10, language));
  return (
    <section class="part">
      <h2>{operators.disk}</h2>
      <dl class="facts">
        <div>
          <dt>{operators.data}</dt>
          <dd>{size(dataBytes)}</dd>
        </div>
        <div>
          <dt>{operators.free}</dt>
          <dd>
            {size(freeBytes)} / {size(diskBytes)}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function counted(waiting: number): string {
  return waiting >= MOST_WAITING ? `${MOST_WAITING}+` : String(waiting);
}

/** Shows how long ago an instant was, in the largest unit that fits. */
function Ago({ at }: { at: string }) {
  const { language } = useLanguage();
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(at)) / 1000));
  const [size, unit] =
    seconds < 120
      ? ([1, 'second'] as const)
      : seconds < 7200
        ? ([60, 'minute'] as const)
        : seconds < 172_800
          ? ([3600, 'hour'] as const)
          : ([86_400, 'day'] as const);
  const text = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
  return (
    <time dateTime={at} title={formatMoment(at, language)}>
      {text.format(Math.round(seconds / size))}
    </time>
  );
}
