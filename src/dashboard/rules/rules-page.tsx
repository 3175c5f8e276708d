import { useMemo } from 'preact/hooks';
import { useLanguage } from '../interface/language.tsx';
import { Unreachable } from '../interface/unreachable.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatDay } from '../text/dates.ts';
import { moroccanDate } from '../text/moroccan-time.ts';
import { RULE_TEXTS } from '../text/rules.ts';
import { useRead } from '../workspace/workspace-context.ts';
import { type LegalRule, RULES } from './documents.ts';

/** `…/rules`: the rules of law that apply to invoices today, and those to come, with their sources. */
export function RulesPage() {
  const { language } = useLanguage();
  const today = useMemo(() => moroccanDate(new Date()), []);
  const { data, problem, reload } = useRead(RULES, { date: today, language });
  const { title, lead, failed, applies, comes } = RULE_TEXTS[language];
  useTitle(title);
  const isToCome = ({ status, validFrom }: LegalRule) => status === 'announced' || (validFrom ?? '') > today;
  return (
    <section aria-busy={!data && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {problem && <Unreachable text={failed} onRetry={reload} />}
      {data && <Rules title={applies} rules={data.rules.filter((rule) => !isToCome(rule))} />}
      {data && <Rules title={comes} rules={data.rules.filter(isToCome)} />}
    </section>
  );
}

function Rules({ title, rules }: { readonly title: string; readonly rules: readonly LegalRule[] }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <ul class="rules">
        {rules.map((rule) => (
          <RuleRow rule={rule} key={`${rule.code} ${rule.validFrom}`} />
        ))}
      </ul>
    </section>
  );
}

function RuleRow({ rule }: { readonly rule: LegalRule }) {
  const { language } = useLanguage();
  const { status, level, article, source, readOn, validFrom, validUntil, says, doubt } = rule;
  const { announced, off, warns, information, from, until, law, read } = RULE_TEXTS[language];
  const effect = doubt !== null ? off : level === 'warning' ? warns : information;
  const days = [
    ...(validFrom === null ? [] : [from(formatDay(validFrom, language))]),
    ...(validUntil === null ? [] : [until(formatDay(validUntil, language))]),
  ];
  return (
    <li>
      <p>{says}</p>
      {doubt !== null && <p class="under">{doubt}</p>}
      <p class="under">
        <span class="badge">{status === 'announced' ? announced : law}</span> <span class="badge">{effect}</span>{' '}
        {days.join(' ')}
      </p>
      <p class="under">
        {article !== null && (
          <>
            <bdi>{article}</bdi>
            {' · '}
          </>
        )}
        {read} <bdi>{`${source} (${readOn})`}</bdi>
      </p>
    </li>
  );
}
