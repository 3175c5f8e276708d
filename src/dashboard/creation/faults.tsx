import type { ComponentChildren } from 'preact';
import { isForeignCurrency } from '../../domain/currencies.ts';
import { useLanguage } from '../interface/language.tsx';
import { ServiceMessage } from '../interface/refusal.tsx';
import { CREDITING_TEXTS } from '../text/crediting.ts';
import { DETAIL_TEXTS } from '../text/details.ts';
import { ERROR_TEXTS, type InputProblem } from '../text/errors.ts';
import { FINDING_TEXTS } from '../text/findings.ts';
import type { Language } from '../text/languages.ts';
import { formatForeign } from '../text/money.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import type { TypedInvoice } from './drawn-up.ts';
import { fieldOfParam, type Placed, placed } from './place-findings.ts';

/** A fault of the value of a field. */
export interface Fault {
  readonly text: ComponentChildren;
  /** The value that it is about; absent if it is about the present one. */
  readonly value?: string;
}

/** By the id of the field. */
export type Faults = ReadonlyMap<string, readonly Fault[]>;

export const NO_FAULTS: Faults = new Map();

/** Merges faults of several sources. */
export function allFaults(...sources: readonly Faults[]): Faults {
  const all = new Map<string, readonly Fault[]>();
  for (const source of sources) {
    for (const [field, faults] of source) all.set(field, [...(all.get(field) ?? []), ...faults]);
  }
  return all;
}

/**
 * Places problems that the service finds in the input of the form. The amount is the total that the form computes, so
 * its problem is left out while a line, the discount, the charge or a deposit has one.
 */
export function placedProblems(problems: readonly InputProblem[], lines: number): Placed<InputProblem> {
  const isAddedUp = ({ param }: InputProblem) => /^(lines\.|discount|charge|deposits)/.test(param ?? '');
  const shown = problems.some(isAddedUp) ? problems.filter(({ param }) => param !== 'amount') : problems;
  return placed(shown, ({ param }) => fieldOfParam(param), lines);
}

/** Makes the faults of the fields. @param typed the content of the form */
export function faultsOf({ beside }: Placed<InputProblem>, { details }: TypedInvoice): Faults {
  const currency = details?.foreignCurrency ?? '';
  const faults = ([field, problems]: readonly [string, readonly InputProblem[]]) =>
    [field, problems.map((problem) => ({ text: <FieldProblem problem={problem} currency={currency} /> }))] as const;
  return new Map([...beside].map(faults));
}

interface FieldProblemProps {
  readonly problem: InputProblem;
  /** The code of the other currency of the form. */
  readonly currency: string;
}

function FieldProblem({ problem, currency }: FieldProblemProps) {
  const { language } = useLanguage();
  const expected =
    problem.expected !== null && problem.param === 'foreignValue.amount' && isForeignCurrency(currency)
      ? formatForeign(Number(problem.expected), currency, language)
      : problem.expected;
  return (
    <>
      {meaningOf(problem, language)}
      {expected !== null && (
        <>
          {' '}
          {FINDING_TEXTS[language].accepted} <bdi>{expected}</bdi>
        </>
      )}
    </>
  );
}

/** Says what is wrong with a field. A code may have another meaning for a field than elsewhere. */
function meaningOf({ code, param }: InputProblem, language: Language): string {
  const { amount, period, rateDate, certificate } = DETAIL_TEXTS[language].faults;
  if (code === 'invalid_request') return FINDING_TEXTS[language].invalid;
  if (code === 'amount_mismatch' && param === 'foreignValue.amount') return amount;
  if (code === 'invalid_date' && param === 'foreignValue.rateDate') return rateDate;
  if (code === 'invalid_date' && param?.startsWith('servicePeriod.')) return period;
  if (code === 'invalid_date' && param === 'withholding.certificate.date') return certificate;
  return ERROR_TEXTS[language][code];
}

interface ProblemListProps {
  readonly title?: string;
  readonly placed: Placed<InputProblem>;
}

/** Lists the problems that have no field. Those of the seller's profile are one line, and lead to the settings. */
export function ProblemList({ title, placed: { beside, rest } }: ProblemListProps) {
  const { language } = useLanguage();
  if (beside.size + rest.length === 0) return null;
  const others = rest.filter(({ param }) => !isOfProfile(param));
  return (
    <div class="refusal findings">
      {title !== undefined && <strong>{title}</strong>}
      <ul>
        {beside.size > 0 && <li>{CREDITING_TEXTS[language].faulty}</li>}
        {others.map(({ code, param, message }) => (
          <li key={message}>
            {param === 'amount' || param === 'lines' ? (
              ERROR_TEXTS[language][code]
            ) : (
              <ServiceMessage own={language === 'en' ? null : ERROR_TEXTS[language][code]} message={message} />
            )}
          </li>
        ))}
        {others.length < rest.length && <ProfileLine />}
      </ul>
    </div>
  );
}

/** Whether a finding is about the seller's profile. */
export function isOfProfile(path: string | null): boolean {
  return path?.startsWith('seller.') ?? false;
}

/** One line for all findings about the seller's profile. */
export function ProfileLine() {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  return (
    <li>
      {FINDING_TEXTS[language].profile} <a href={`${address}/settings`}>{texts.settings.title}</a>
    </li>
  );
}
