import { PROFILE_LIMITS } from '../../domain/limits.ts';
import { useLanguage } from '../interface/language.tsx';
import { LANGUAGE_NAMES, LANGUAGES } from '../text/languages.ts';
import type { PaymentMeans, Seller } from './documents.ts';
import { COMPANY_FIELDS, CONTACT_FIELDS, PAYMENT_FIELDS, type TextField, type TypedProfile } from './profile-change.ts';

/** Fields of digits and codes, which are written from left to right even in Arabic. */
const CODES = [
  'capital',
  'ice',
  'taxId',
  'professionalTax',
  'cnss',
  'email',
  'paymentTermDays',
  'bankAccount',
  'postalCode',
];

interface ProfileFieldsProps {
  readonly seller: Seller;
  readonly typed: TypedProfile;
  readonly onTyped: (typed: TypedProfile) => void;
}

/** The fields of the seller's profile. */
export function ProfileFields({ seller, typed, onTyped }: ProfileFieldsProps) {
  const { texts } = useLanguage();
  const { settings } = texts;
  const { groups, fields, hints, means, noMeans, documentLanguage, operationDate } = settings;
  const text = (field: TextField) => (
    <div class="field" key={field}>
      <label for={field}>{fields[field]}</label>
      <input
        id={field}
        value={typed.texts[field]}
        dir={CODES.includes(field) ? 'ltr' : 'auto'}
        inputMode={field === 'ice' || field === 'bankAccount' || field === 'paymentTermDays' ? 'numeric' : undefined}
        aria-describedby={hints[field] ? `${field}-hint` : undefined}
        maxLength={(PROFILE_LIMITS as Partial<Record<TextField, number>>)[field]}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => onTyped({ ...typed, texts: { ...typed.texts, [field]: value } })}
      />
      {hints[field] && (
        <p class="hint" id={`${field}-hint`}>
          {hints[field]}
        </p>
      )}
    </div>
  );
  return (
    <>
      <h3>{groups.company}</h3>
      <div class="fields">{COMPANY_FIELDS.map(text)}</div>
      <h3>{groups.contact}</h3>
      <div class="fields">{CONTACT_FIELDS.map(text)}</div>
      <h3>{groups.payment}</h3>
      <div class="fields">
        <div class="field">
          <label for="paymentMeans">{settings.paymentMeans}</label>
          <select
            id="paymentMeans"
            value={typed.paymentMeans}
            onChange={({ currentTarget }) =>
              onTyped({ ...typed, paymentMeans: currentTarget.value as PaymentMeans | '' })
            }
          >
            <option value="">{noMeans}</option>
            {Object.entries(means).map(([name, words]) => (
              <option value={name} key={name}>
                {words}
              </option>
            ))}
          </select>
        </div>
        {PAYMENT_FIELDS.map(text)}
      </div>
      <h3>{groups.documents}</h3>
      <div class="fields">
        <div class="field">
          <label for="documentLanguage">{documentLanguage}</label>
          <select
            id="documentLanguage"
            value={typed.documentLanguage}
            onChange={({ currentTarget: { value } }) =>
              onTyped({ ...typed, documentLanguage: LANGUAGES.find((each) => each === value) ?? 'fr' })
            }
          >
            {LANGUAGES.map((each) => (
              <option value={each} key={each}>
                {LANGUAGE_NAMES[each]}
              </option>
            ))}
          </select>
        </div>
        <LogoField hasLogo={seller.logo !== null} typed={typed} onTyped={onTyped} />
        <label class="choice wide">
          <input
            type="checkbox"
            checked={typed.operationDateIsIssueDate}
            onChange={({ currentTarget }) => onTyped({ ...typed, operationDateIsIssueDate: currentTarget.checked })}
          />
          {operationDate}
        </label>
      </div>
    </>
  );
}

interface LogoFieldProps {
  readonly hasLogo: boolean;
  readonly typed: TypedProfile;
  readonly onTyped: (typed: TypedProfile) => void;
}

function LogoField({ hasLogo, typed, onTyped }: LogoFieldProps) {
  const { texts } = useLanguage();
  const { logo, logoHint, removeLogo } = texts.settings;
  function choose(file: File | undefined): void {
    if (!file) {
      onTyped({ ...typed, logo: undefined });
      return;
    }
    const reader = new FileReader();
    reader.onload = () => onTyped({ ...typed, logo: String(reader.result) });
    reader.readAsDataURL(file);
  }
  return (
    <div class="field">
      <label for="logo">{logo}</label>
      <input
        id="logo"
        type="file"
        accept="image/png,image/jpeg"
        aria-describedby="logo-hint"
        onChange={({ currentTarget }) => choose(currentTarget.files?.[0])}
      />
      <p class="hint" id="logo-hint">
        {logoHint}
      </p>
      {hasLogo && (
        <label class="choice">
          <input
            type="checkbox"
            checked={typed.logo === null}
            onChange={({ currentTarget }) => onTyped({ ...typed, logo: currentTarget.checked ? null : undefined })}
          />
          {removeLogo}
        </label>
      )}
    </div>
  );
}
