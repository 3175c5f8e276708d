import { useLanguage } from '../interface/language.tsx';
import { formatDate } from '../text/dates.ts';
import { DEPOSIT_TEXTS } from '../text/deposits.ts';
import { formatMoney } from '../text/money.ts';
import type { TypedInvoice } from './drawn-up.ts';
import type { Faults } from './faults.tsx';
import { Check, FaultList } from './field.tsx';
import type { Deposits } from './use-deposits.ts';

interface DepositFieldsProps {
  readonly typed: TypedInvoice;
  readonly deposits: Deposits;
  readonly faults: Faults | undefined;
  readonly onTyped: (typed: TypedInvoice) => void;
}

/** Says whether the invoice asks for a deposit, and if not, which deposits it deducts. */
export function DepositFields({ typed, deposits, faults, onTyped }: DepositFieldsProps) {
  const { language } = useLanguage();
  const { title, isDeposit } = DEPOSIT_TEXTS[language];
  return (
    <details
      id="deposit-part"
      class="more"
      open={deposits.isOpen || faults?.has('deposits')}
      onToggle={({ currentTarget }) => deposits.setOpen(currentTarget.open)}
    >
      <summary>{title}</summary>
      <Check
        name="isDeposit"
        label={isDeposit}
        checked={typed.isDeposit ?? false}
        onChecked={(checked) => onTyped({ ...typed, isDeposit: checked })}
      />
      {!typed.isDeposit && <DepositChoice typed={typed} deposits={deposits} faults={faults} onTyped={onTyped} />}
    </details>
  );
}

function DepositChoice({ typed, deposits, faults, onTyped }: DepositFieldsProps) {
  const { language } = useLanguage();
  const { choose, noCustomer, none, failed, older } = DEPOSIT_TEXTS[language];
  const { ids, hasCustomer, state, readOlder } = deposits;
  const chosen = typed.deposits ?? [];
  const set = (id: string, isChosen: boolean) =>
    onTyped({ ...typed, deposits: isChosen ? [...chosen, id] : chosen.filter((each) => each !== id) });
  const said = !hasCustomer
    ? noCustomer
    : state === 'failed'
      ? failed
      : state === 'read' && ids.length === 0
        ? none
        : '';
  return (
    // It is focused when something is wrong with the deposits.
    <fieldset
      id="deposits"
      tabIndex={-1}
      aria-describedby="deposits-fault"
      aria-busy={hasCustomer && state === 'reading'}
    >
      <legend>{choose}</legend>
      {ids.map((id) => (
        <DepositCheck
          id={id}
          deposits={deposits}
          checked={chosen.includes(id)}
          key={id}
          onChecked={(checked) => set(id, checked)}
        />
      ))}
      <p class="under" role="status">
        {said}
      </p>
      {readOlder && (
        <button type="button" class="quiet" onClick={readOlder}>
          {older}
        </button>
      )}
      <FaultList name="deposits" value={chosen.join()} faults={faults?.get('deposits') ?? []} />
    </fieldset>
  );
}

interface DepositCheckProps {
  readonly id: string;
  readonly deposits: Deposits;
  readonly checked: boolean;
  readonly onChecked: (checked: boolean) => void;
}

/** Chooses a deposit. A deposit of which nothing is left can only be removed. */
function DepositCheck({ id, deposits: { known }, checked, onChecked }: DepositCheckProps) {
  const { language } = useLanguage();
  const { left, nothingLeft } = DEPOSIT_TEXTS[language];
  const deposit = known.get(id);
  const hasLeft = deposit != null && deposit.rates.length > 0;
  if (deposit !== undefined && !hasLeft && !checked) return null;
  const label = (
    <span>
      <bdi>{deposit?.number ?? id}</bdi>
      {deposit?.createdAt && ` (${formatDate(deposit.createdAt, language)})`}{' '}
      {deposit !== undefined && (
        <span class="under">{hasLeft ? left(formatMoney(deposit.amount, language)) : nothingLeft}</span>
      )}
    </span>
  );
  return (
    <Check
      name={`deposit-${id}`}
      label={label}
      checked={checked}
      disabled={!hasLeft && !checked}
      onChecked={onChecked}
    />
  );
}
