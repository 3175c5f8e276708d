import { useLanguage } from '../interface/language.tsx';
import type { Outcome } from './account-api.ts';
import { AccountForm } from './account-form.tsx';

interface CodeFormProps {
  readonly onSuccess: (outcome: Outcome & { refusal: null }) => void;
  readonly onBack: () => void;
}

/** The step after the password, if the account has a second factor. */
export function CodeForm({ onSuccess, onBack }: CodeFormProps) {
  const { codeStep } = useLanguage().texts.account;
  return (
    <>
      <AccountForm path="sign-in/code" fields={['code']} submit={codeStep.submit} focus onSuccess={onSuccess} />
      <p class="aside">
        <button type="button" class="quiet" onClick={onBack}>
          {codeStep.back}
        </button>
      </p>
    </>
  );
}
