import { useLanguage } from '../interface/language.tsx';
import { ADJUSTMENT_TEXTS } from '../text/adjustments.ts';
import type { TypedInvoice } from './drawn-up.ts';
import type { Faults } from './faults.tsx';
import { Check, Field } from './field.tsx';
import { NO_ADJUSTMENT, type TypedAdjustment } from './typed-discount.ts';

interface AdjustmentFieldsProps {
  readonly typed: TypedInvoice;
  readonly faults: Faults | undefined;
  readonly onTyped: (typed: TypedInvoice) => void;
}

/**
 * The fields of the discount and the charge of the whole invoice. The fields that only an existing one has follow its
 * figure.
 */
export function AdjustmentFields({ typed, faults, onTyped }: AdjustmentFieldsProps) {
  const { language } = useLanguage();
  const texts = ADJUSTMENT_TEXTS[language];
  return (
    <fieldset>
      <legend>{texts.whole}</legend>
      <div class="fields">
        {(['discount', 'charge'] as const).map((name) => {
          const value = typed[name] ?? NO_ADJUSTMENT;
          const change = (changed: Partial<TypedAdjustment>) => onTyped({ ...typed, [name]: { ...value, ...changed } });
          const { figure, reason, taxIncluded } = texts[name];
          return [
            <Field
              name={name}
              label={figure}
              value={value.figure}
              faults={faults?.get(name)}
              key={name}
              onTyped={(typedFigure) => change({ figure: typedFigure })}
            />,
            ...(value.figure.trim() === '' && value.reason === ''
              ? []
              : [
                  <Field
                    name={`${name}Reason`}
                    label={reason}
                    value={value.reason}
                    faults={faults?.get(`${name}Reason`)}
                    key={`${name} reason`}
                    onTyped={(typedReason) => change({ reason: typedReason })}
                  />,
                  <Check
                    name={`${name}TaxIncluded`}
                    label={taxIncluded}
                    checked={value.taxIncluded}
                    key={`${name} tax`}
                    onChecked={(checked) => change({ taxIncluded: checked })}
                  />,
                ]),
          ];
        })}
      </div>
    </fieldset>
  );
}
