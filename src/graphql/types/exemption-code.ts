import { EXEMPTIONS } from '../../domain/morocco/exemptions.ts';
import { enumOf } from '../enum-of.ts';

export const ExemptionCodeType = enumOf(
  'ExemptionCode',
  'Why a line has no VAT, by the article of the law.',
  EXEMPTIONS,
);
