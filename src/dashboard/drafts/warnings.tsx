import { isOfProfile, ProfileLine } from '../creation/faults.tsx';
import { useLanguage } from '../interface/language.tsx';
import { WARNING_TEXTS } from '../text/findings.ts';
import { formatNumber } from '../text/money.ts';
import { RULE_TEXTS } from '../text/rules.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import type { Draft } from './documents.ts';

interface WarningsProps {
  readonly title: string;
  readonly warnings: Draft['validation']['warnings'];
}

/** Lists the warnings in a group that is closed at first. Those of the seller's profile are one line. */
export function Warnings({ title, warnings }: WarningsProps) {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  if (warnings.length === 0) return null;
  const others = warnings.filter(({ path }) => !isOfProfile(path));
  // Several fields may have the same warning.
  const codes = [...new Set(others.map(({ code }) => code))];
  const hasProfile = others.length < warnings.length;
  return (
    <details class="findings">
      <summary>
        {title} (<bdi>{formatNumber(codes.length + Number(hasProfile), language)}</bdi>)
      </summary>
      <ul>
        {codes.map((code) => (
          <li key={code}>{WARNING_TEXTS[code][language]}</li>
        ))}
        {hasProfile && <ProfileLine />}
      </ul>
      <p>
        <a href={`${address}/rules`}>{RULE_TEXTS[language].title}</a>
      </p>
    </details>
  );
}
