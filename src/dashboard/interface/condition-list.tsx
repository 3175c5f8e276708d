import { CONDITIONS, type ConditionCode, countText } from '../../domain/conditions/condition-table.ts';
import { formatMoment } from '../text/dates.ts';
import { useLanguage } from './language.tsx';

interface ShownSubject {
  readonly id: string;
  readonly name: string | null;
  readonly since: string | null;
}

/** A condition as the API states it. */
export interface ShownCondition {
  readonly code: ConditionCode;
  readonly count: number;
  readonly hasMore: boolean;
  readonly since: string | null;
  readonly subjects: readonly ShownSubject[];
}

interface ConditionListProps {
  readonly title: string;
  /** The text if nothing is wrong. */
  readonly nothing: string;
  readonly conditions: readonly ShownCondition[];
  /**
   * Returns the address of the page that shows what a condition is about, or one object of it; null if there is none.
   */
  readonly addressOf: (code: ConditionCode, subject: ShownSubject | null) => string | null;
}

/** Says what is wrong now, since when, and what to do: on Home and for operators alike. */
export function ConditionList({ title, nothing, conditions, addressOf }: ConditionListProps) {
  const { texts, language } = useLanguage();
  /** A draft has no name but its age. */
  const nameOf = (code: ConditionCode, { id, name, since }: ShownSubject) => {
    if (name !== null) return name;
    if (code === 'drafts_waiting' && since) return formatMoment(since, language);
    return code.startsWith('invoices_') ? texts.numberToCome : id;
  };
  return (
    <section class="part conditions">
      <h2>{title}</h2>
      {conditions.length === 0 && <p class="empty">{nothing}</p>}
      <ul class="log">
        {conditions.map((condition) => {
          const { code, since, subjects } = condition;
          const { severity, says, advice } = CONDITIONS[code];
          const isCounted = subjects.length > 0 || code.startsWith('calls_');
          return (
            <li key={code} data-condition={code}>
              <span class={severity === 'notice' ? 'badge' : 'badge attention'}>{says[language]}</span>
              {isCounted && <Linked address={addressOf(code, null)}>{countText(condition)}</Linked>}
              {since && <time dateTime={since}>{formatMoment(since, language)}</time>}
              {subjects.length > 0 && (
                <span class="subjects">
                  {subjects.map((subject) => (
                    <Linked address={addressOf(code, subject)} key={subject.id}>
                      {nameOf(code, subject)}
                    </Linked>
                  ))}
                </span>
              )}
              <span class="under">{advice[language]}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Linked({ address, children }: { readonly address: string | null; readonly children: string }) {
  const shown = <bdi>{children}</bdi>;
  return address === null ? shown : <a href={address}>{shown}</a>;
}
