import type { ResultOf } from 'gql.tada';
import type { CREATE_KEY } from '../keys/documents.ts';
import type { Language } from './languages.ts';

/** The codes of the service's errors (docs/api/contract.md, "Errors"). */
export type ErrorCode = Extract<ResultOf<typeof CREATE_KEY>['result'], { code: unknown }>['code'];

/** A fault of the input. */
export interface InputProblem {
  readonly code: ErrorCode;
  readonly message: string;
  /** Dotted path of the field; null if it concerns no field. */
  readonly param: string | null;
  /** The accepted values; null if they cannot be listed. */
  readonly expected: string | null;
}

/** The service's error, or `unreachable` if there was no answer. */
export type Reason =
  | 'unreachable'
  | { readonly code: ErrorCode; readonly message: string; readonly problems?: readonly InputProblem[] };

/**
 * The meaning of each error code. Readers of English see the service's own message instead, which says more, except
 * beside a field: there it would repeat the field's name in the API.
 */
export const ERROR_TEXTS: Readonly<Record<Language, Readonly<Record<ErrorCode, string>>>> = {
  fr: {
    invalid_request: 'Une valeur manque ou n’est pas valable.',
    invalid_api_key: 'La clé est inconnue.',
    api_key_revoked: 'Cette clé a été révoquée.',
    invalid_credentials: 'L’adresse e-mail ou le mot de passe est incorrect.',
    not_signed_in: 'Vous n’êtes plus connecté.',
    confirmation_required: 'Saisissez votre mot de passe, puis recommencez.',
    tenant_suspended: 'Le compte est suspendu\u00a0: vous pouvez tout consulter, mais rien modifier.',
    insufficient_scope: 'Votre rôle ne le permet pas.',
    resource_not_found: 'Cet élément n’existe pas ou n’existe plus.',
    idempotency_conflict: 'Cette clé d’idempotence a déjà servi pour un autre contenu.',
    draft_changed: 'Ce brouillon a été modifié entre-temps\u00a0: relisez-le.',
    draft_issued: 'Ce brouillon est émis\u00a0: il est une facture.',
    amount_too_small: 'Le montant est inférieur au minimum.',
    amount_mismatch: 'Le montant n’est pas le total des lignes avec leur TVA.',
    invalid_ice: 'L’ICE doit avoir exactement 15 chiffres.',
    duplicate_number: 'Une autre facture porte déjà ce numéro.',
    invalid_date: 'Une date est trop éloignée de celle de la facture, ou l’échéance la précède.',
    invalid_bank_account: 'Le RIB est incorrect\u00a0: sa clé de contrôle ne correspond pas.',
    credit_exceeds_invoice: 'L’avoir dépasse ce qui reste de la facture.',
    deposit_not_deductible: 'L’acompte ne peut pas être déduit de cette facture.',
    invoice_not_accepted: 'La facture n’est pas acceptée : un avoir n’est pas possible.',
    draft_limit_reached: 'Le nombre maximal de brouillons est atteint\u00a0: émettez-en ou supprimez-en.',
    invoice_not_replaceable: 'Cette facture ne peut pas être remplacée pour le moment, ou l’est déjà.',
    endpoint_limit_reached: 'Le nombre maximal de destinations est atteint\u00a0: supprimez-en une.',
    key_limit_reached: 'Le nombre maximal de clés est atteint\u00a0: révoquez celles qui ne servent plus.',
    last_secret_key: 'C’est la dernière clé secrète valable\u00a0: créez-en d’abord une autre.',
    member_limit_reached: 'Le nombre maximal de membres est atteint.',
    last_owner: 'C’est le dernier propriétaire\u00a0: donnez d’abord ce rôle à quelqu’un d’autre.',
    logo_limit_reached: 'Le nombre maximal de logos est atteint\u00a0: utilisez un logo déjà enregistré.',
    rate_limit_exceeded: 'Trop de requêtes en une minute\u00a0: réessayez un peu plus tard.',
    internal_error: 'Le service a échoué ou n’est pas disponible pour le moment.',
  },
  en: {
    invalid_request: 'A value is missing or not valid.',
    invalid_api_key: 'The key is unknown.',
    api_key_revoked: 'This key was revoked.',
    invalid_credentials: 'The e-mail address or the password is wrong.',
    not_signed_in: 'You are no longer signed in.',
    confirmation_required: 'Enter your password, then try again.',
    tenant_suspended: 'The account is suspended: you can see everything but change nothing.',
    insufficient_scope: 'Your role does not allow this.',
    resource_not_found: 'This does not exist, or no longer.',
    idempotency_conflict: 'This idempotency key was used with other content.',
    draft_changed: 'This draft was changed meanwhile: read it again.',
    draft_issued: 'This draft is issued: it is an invoice.',
    amount_too_small: 'The amount is below the minimum.',
    amount_mismatch: 'The amount is not the total of the lines with their VAT.',
    invalid_ice: 'The ICE must have exactly 15 digits.',
    duplicate_number: 'Another invoice has this number.',
    invalid_date: 'A date is too far from that of the invoice, or the due date is before it.',
    invalid_bank_account: 'The RIB is wrong: its check key does not match.',
    credit_exceeds_invoice: 'The credit note exceeds what is left of the invoice.',
    deposit_not_deductible: 'The deposit cannot be deducted from this invoice.',
    invoice_not_accepted: 'The invoice is not accepted: it cannot be credited.',
    draft_limit_reached: 'There are as many drafts as allowed: issue or delete some.',
    invoice_not_replaceable: 'This invoice cannot be replaced now, or already is.',
    endpoint_limit_reached: 'There are as many endpoints as allowed: delete one.',
    key_limit_reached: 'There are as many keys as allowed: revoke those that are no longer used.',
    last_secret_key: 'This is the last valid secret key: create another one first.',
    member_limit_reached: 'There are as many members as allowed.',
    last_owner: 'This is the last owner: give somebody else this role first.',
    logo_limit_reached: 'There are as many logos as allowed: use one that is stored.',
    rate_limit_exceeded: 'Too many requests in one minute: try again a little later.',
    internal_error: 'The service failed or is not available at the moment.',
  },
  ar: {
    invalid_request: 'هناك قيمة ناقصة أو غير صالحة.',
    invalid_api_key: 'المفتاح غير معروف.',
    api_key_revoked: 'أُبطل هذا المفتاح.',
    invalid_credentials: 'البريد الإلكتروني أو كلمة السر غير صحيحة.',
    not_signed_in: 'انتهت جلستكم.',
    confirmation_required: 'أدخلوا كلمة السر ثم أعيدوا المحاولة.',
    tenant_suspended: 'الحساب معلّق: يمكنكم الاطلاع على كل شيء دون تغيير أي شيء.',
    insufficient_scope: 'دوركم لا يسمح بذلك.',
    resource_not_found: 'هذا العنصر غير موجود أو لم يعد موجودا.',
    idempotency_conflict: 'سبق استعمال مفتاح عدم التكرار هذا لمحتوى آخر.',
    draft_changed: 'تم تغيير هذه المسودة في هذه الأثناء: أعيدوا قراءتها.',
    draft_issued: 'تم إصدار هذه المسودة: أصبحت فاتورة.',
    amount_too_small: 'المبلغ أقل من الحد الأدنى.',
    amount_mismatch: 'المبلغ لا يساوي مجموع السطور مع ضريبتها.',
    invalid_ice: 'يجب أن يتكون ICE من 15 رقما بالضبط.',
    duplicate_number: 'تحمل فاتورة أخرى هذا الرقم.',
    invalid_date: 'هناك تاريخ بعيد جدا عن تاريخ الفاتورة، أو أجل الأداء قبله.',
    invalid_bank_account: 'رقم الحساب البنكي غير صحيح: مفتاح التحقق لا يطابقه.',
    credit_exceeds_invoice: 'يتجاوز الإشعار الدائن ما تبقى من الفاتورة.',
    deposit_not_deductible: 'لا يمكن خصم التسبيق من هذه الفاتورة.',
    invoice_not_accepted: 'الفاتورة غير مقبولة: لا يمكن إصدار إشعار دائن.',
    draft_limit_reached: 'بلغتم العدد الأقصى للمسودات: أصدروا بعضها أو احذفوها.',
    invoice_not_replaceable: 'لا يمكن استبدال هذه الفاتورة حاليا، أو سبق استبدالها.',
    endpoint_limit_reached: 'بلغتم العدد الأقصى لنقاط الاستقبال: احذفوا واحدة منها.',
    key_limit_reached: 'بلغتم العدد الأقصى للمفاتيح: أبطلوا ما لم يعد يُستعمل منها.',
    last_secret_key: 'هذا آخر مفتاح سري صالح: أنشئوا مفتاحا آخر أولا.',
    member_limit_reached: 'بلغتم العدد الأقصى للأعضاء.',
    last_owner: 'هذا آخر مالك: أعطوا هذا الدور لشخص آخر أولا.',
    logo_limit_reached: 'بلغتم العدد الأقصى للشعارات: استعملوا شعارا مسجلا.',
    rate_limit_exceeded: 'طلبات كثيرة في دقيقة واحدة: أعيدوا المحاولة بعد قليل.',
    internal_error: 'حدث خطأ في الخدمة أو أنها غير متاحة حاليا.',
  },
};
