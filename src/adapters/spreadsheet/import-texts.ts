import type { ImportTexts } from '../../domain/imports/import-texts.ts';
import type { FileFault } from '../../domain/imports/row-rules.ts';
import { columnName } from '../../text/column-name.ts';
import { fileFaultText, importProblemText } from '../../text/import-problems.ts';
import { IMPORT_VERDICTS } from '../../text/import-verdicts.ts';
import { EARLIER_SALES } from '../../text/import-warnings.ts';

/** The texts about imports, in the language of each file. */
export const importTexts: ImportTexts = {
  failure({ status, failure, reading, language }) {
    if (failure === null) return null;
    const { code, facts } = failure;
    const stated = reading?.language ?? language;
    return status === 'unreadable'
      ? fileFaultText(code as FileFault, facts, stated)
      : importProblemText(failure, stated);
  },
  column: columnName,
  problem: ({ reading, language }, problem) => importProblemText(problem, reading?.language ?? language),
  warning({ reading, language }, { code, message, facts = {} }) {
    if (code !== 'equal_sale' && code !== 'similar_sale') return message;
    return EARLIER_SALES[code][reading?.language ?? language](facts);
  },
  verdict({ reading, language }, verdict, status) {
    const texts = IMPORT_VERDICTS[reading?.language ?? language];
    if (status === null) return texts[verdict];
    return verdict === 'issued' ? texts[status] : `${texts[verdict]} · ${texts[status]}`;
  },
};
