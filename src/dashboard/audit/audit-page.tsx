import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { AUDIT_ACTIONS } from '../text/audit-actions.ts';
import { formatMoment } from '../text/dates.ts';
import { PageLinks } from '../workspace/page-links.tsx';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { AUDIT_LOG, type AuditEntry } from './documents.ts';

const PAGE = 25;

type To = (set: Readonly<Record<string, string | null>>) => string;

/** `…/audit`: the audit log of the tenant's account, of both environments. For owners. */
export function AuditPage() {
  const { texts } = useLanguage();
  const { address } = useWorkspace();
  const { query } = useLocation();
  const { after, before, actor, subject } = query;
  const filter = subject ? { subject } : actor ? { actorId: actor } : {};
  const { data, problem, reload } = useRead(AUDIT_LOG, {
    ...filter,
    ...(before && !after ? { last: PAGE, before } : { first: PAGE, ...(after && { after }) }),
  });
  const { title, lead, none, everything, onlyOf, forOwners } = texts.audit;
  const found = data?.auditLog;
  useTitle(title);
  const to: To = (set) => {
    const given = Object.entries(set).filter((entry): entry is [string, string] => entry[1] !== null);
    return `${address}/audit${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
  };
  const limits = subject ? { subject } : actor ? { actor } : {};
  const chosen = subject || actor;
  return (
    <section class="audit" aria-busy={!found && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      <div class="filters">
        {chosen && (
          <p>
            {onlyOf} <code dir="ltr">{chosen}</code> <a href={to({})}>{everything}</a>
          </p>
        )}
        <button type="button" class="secondary" onClick={reload}>
          {texts.requests.again}
        </button>
      </div>
      <Refusal why={problem === 'failed' ? 'unreachable' : null} onRetry={reload} />
      {problem === 'refused' && <p class="empty">{forOwners}</p>}
      {found?.nodes.length === 0 && <p class="empty">{none}</p>}
      {found?.nodes.map((entry) => (
        <EntryRow entry={entry} to={to} key={entry.id} />
      ))}
      {found && <PageLinks pageInfo={found.pageInfo} to={(cursor) => to({ ...limits, ...cursor })} />}
    </section>
  );
}

function EntryRow({ entry, to }: { entry: AuditEntry; to: To }) {
  const { texts, language } = useLanguage();
  const { at, action, environment, actor, subject, details, address, userAgent, requestId } = entry;
  const { actors, facts } = texts.audit;
  const who = actor.name ?? (actor.actorId ? `${actors[actor.kind]} …${actor.actorId.slice(-4)}` : actors[actor.kind]);
  return (
    <details class="delivery">
      <summary>
        <strong>{AUDIT_ACTIONS[action][language]}</strong>
        <bdi>{who}</bdi>
        <time dateTime={at}>{formatMoment(at, language)}</time>
        {environment && (
          <span class="badge" data-environment={environment}>
            {texts.workspace[environment]}
          </span>
        )}
      </summary>
      <dl class="facts">
        {actor.actorId !== null && (
          <div>
            <dt>{facts.actor}</dt>
            <dd>
              <a href={to({ actor: actor.actorId })}>
                <code dir="ltr">{actor.actorId}</code>
              </a>
            </dd>
          </div>
        )}
        {subject !== null && (
          <div>
            <dt>{facts.subject}</dt>
            <dd>
              <a href={to({ subject })}>
                <code dir="ltr">{subject}</code>
              </a>
            </dd>
          </div>
        )}
        {details.map(({ name, value }) => (
          <div key={name}>
            <dt>
              <code dir="ltr">{name}</code>
            </dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
        {address !== null && (
          <div>
            <dt>{facts.address}</dt>
            <dd>
              <code dir="ltr">{address}</code>
            </dd>
          </div>
        )}
        {userAgent !== null && (
          <div>
            <dt>{facts.userAgent}</dt>
            <dd dir="ltr">{userAgent}</dd>
          </div>
        )}
        {requestId !== null && (
          <div>
            <dt>{texts.requests.requestId}</dt>
            <dd>
              <code dir="ltr">{requestId}</code>
            </dd>
          </div>
        )}
      </dl>
    </details>
  );
}
