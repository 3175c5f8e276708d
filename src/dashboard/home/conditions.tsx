import { CONDITIONS, countText } from '../../domain/conditions/condition-table.ts';
import { useLanguage } from '../interface/language.tsx';
import { formatMoment } from '../text/dates.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import type { ShownCondition } from './documents.ts';

/** Says what is wrong now, with links to it. */
export function Conditions({ conditions }: { readonly conditions: readonly ShownCondition[] }) {
  const { texts } = useLanguage();
  const { attention, nothing } = texts.home;
  return (
    <section class="part conditions">
      <h2>{attention}</h2>
      {conditions.length === 0 && <p class="empty">{nothing}</p>}
      <ul class="log">
        {conditions.map((condition) => (
          <ConditionRow condition={condition} key={condition.code} />
        ))}
      </ul>
    </section>
  );
}

function ConditionRow({ condition }: { readonly condition: ShownCondition }) {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  const { code, since, subjects } = condition;
  const { severity, says, advice, page } = CONDITIONS[code];
  const isOfObjects = subjects.length > 0 || code.startsWith('calls_');
  return (
    <li data-condition={code}>
      <span class={severity === 'notice' ? 'badge' : 'badge attention'} data-severity={severity}>
        {says[language]}
      </span>
      {isOfObjects && page !== null && (
        <a class="count" href={`${address}/${page}`}>
          <bdi>{countText(condition)}</bdi>
        </a>
      )}
      {since && <time dateTime={since}>{formatMoment(since, language)}</time>}
      {subjects.length > 0 && (
        <span class="subjects">
          {subjects.map((subject) => (
            <SubjectLink code={code} subject={subject} key={subject.id} />
          ))}
        </span>
      )}
      <span class="under">{advice[language]}</span>
    </li>
  );
}

interface SubjectProps {
  readonly code: ShownCondition['code'];
  readonly subject: ShownCondition['subjects'][number];
}

/** Names an object, with a link to its page if it has one. */
function SubjectLink({ code, subject: { id, name, since } }: SubjectProps) {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { page } = CONDITIONS[code];
  if (code === 'drafts_waiting')
    return <a href={`${address}/drafts/${id}`}>{since ? formatMoment(since, language) : id}</a>;
  if (code.startsWith('invoices_'))
    return (
      <a href={`${address}/invoices/${id}`}>
        <bdi>{name ?? texts.numberToCome}</bdi>
      </a>
    );
  const shown = <bdi dir="ltr">{name ?? id}</bdi>;
  return page === 'endpoints' ? <a href={`${address}/${page}`}>{shown}</a> : shown;
}
