import { COUNTRIES } from '../../domain/countries.ts';
import { DOCUMENT_LANGUAGES } from '../../domain/document-language.ts';
import { choiceKey, choicesOf } from '../../domain/imports/choices.ts';
import { CUSTOMER_KIND_NAMES, type CustomerKind } from '../../domain/invoice/customer-kind.ts';
import { countryName } from '../../text/country-names.ts';
import { CUSTOMER_LABELS } from '../../text/customer-labels.ts';

/** Other names of the kinds of customers. */
const KIND_WORDS: Readonly<Record<CustomerKind, readonly string[]>> = {
  company: ['entreprise', 'société', 'professionnel', 'pro', 'b2b', 'company', 'business', 'مقاولة', 'شركة', 'مهني'],
  person: [
    'particulier',
    'personne',
    'part',
    'b2c',
    'person',
    'individual',
    'consumer',
    'شخص',
    'فرد',
    'خاص',
    'شخص عادي',
  ],
  foreign: ['étranger', 'client étranger', 'export', 'foreign', 'abroad', 'أجنبي', 'زبون أجنبي', 'خارج المغرب'],
};

/** The values that cells may name, with their names in all document languages. */
export const CHOICES = choicesOf({
  countries: new Map(
    COUNTRIES.flatMap((code) => [
      [code, code] as const,
      ...DOCUMENT_LANGUAGES.map((language) => [countryName(code, language), code] as const),
    ]),
  ),
  customerKinds: new Map(
    CUSTOMER_KIND_NAMES.flatMap((kind) =>
      [kind, ...DOCUMENT_LANGUAGES.map((language) => CUSTOMER_LABELS[language].kinds[kind]), ...KIND_WORDS[kind]].map(
        (name) => [choiceKey(name), kind] as const,
      ),
    ),
  ),
});
